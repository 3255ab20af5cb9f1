/**
 * The doubles of a world's steps: which one an attempt meets.
 *
 * Owns: the doubles. Does not own: when an object leaves memory, and what it has stored (its host tells `calls`), nor anything
 * of a step but its callback (the engine does).
 */
import type { StepAttempt } from "../../actor/index.js";
import { isThenable } from "../../protocol/index.js";
import { CALLING_THROUGH, failing, giving, HANGING, running, type Answer } from "./answer.js";
import { Answers } from "./answers.js";
import type { StepCall } from "./step-call.js";
import { StepCalls } from "./step-calls.js";
import type { StepDouble } from "./step-double.js";
import { checkStepPath, describeStep, matchesStep, type StepPath } from "./step-path.js";

/** How many names an error lists. */
const MAX_NAMES = 20;

/** A step, or its rollback handler. */
interface Step {
  readonly actor: string;
  readonly path: StepPath;
  readonly isRollback: boolean;
}

interface Declared extends Step {
  readonly answers: Answers;
  readonly double: StepDouble;
}

export class StepDoubles {
  readonly calls = new StepCalls();
  readonly #actorNames: () => readonly string[];
  readonly #declared = new Map<string, Declared>();

  /** `actorNames` gives those of the registry as it is now. */
  constructor(actorNames: () => readonly string[]) {
    this.#actorNames = actorNames;
  }

  /**
   * The double of a step, always the same for the same step. An attempt that several meet takes from that declared last
   * which has answers.
   *
   * @throws TypeError when the registry has no such actor, or the path is none
   */
  of(actor: string, step: StepPath, isRollback = false): StepDouble {
    const names = this.#actorNames();
    if (!names.includes(actor)) {
      const known = listed(names.map((name) => JSON.stringify(name)));
      throw new TypeError(`The registry has no actor ${JSON.stringify(actor)}; its actors are ${known}`);
    }
    const path = checkStepPath(step);
    const id = JSON.stringify([actor, path, isRollback]);
    let declared = this.#declared.get(id);
    if (!declared) this.#declared.set(id, (declared = this.#declare({ actor, path, isRollback })));
    return declared.double;
  }

  /** Runs the attempt's callback, or what stands in its place; `track` runs what is code. */
  run(attempt: StepAttempt, track: (code: () => unknown) => unknown = (code) => code()): unknown {
    const before = this.calls.takeLost(attempt)?.answer;
    const answer = before?.isRepeated ? before : this.#answerTo(attempt);
    const call = this.calls.begin(attempt, answer);
    const work = (): unknown => (answer ? answer.run(attempt) : attempt.run());
    try {
      const returned = answer?.isCode === false ? work() : track(work);
      if (!isThenable(returned)) {
        call.fulfilled(returned);
        return returned;
      }
      const settled = Promise.resolve(returned);
      settled.then(
        (result) => call.fulfilled(result),
        (error: unknown) => call.rejected(error),
      );
      return settled;
    } catch (error) {
      call.rejected(error);
      throw error;
    }
  }

  /** @throws Error when no attempt has taken an answer of a double that has some: it names the steps that ran */
  checkUsed(): void {
    const unused = [...this.#declared.values()].filter(({ answers }) => answers.areUnused);
    if (unused.length === 0) return;
    const problems = unused.map((declared) => this.#unused(declared)).join("\n");
    throw new Error(`${problems}. One that a test need not use is declared with .optional()`);
  }

  #declare(step: Step): Declared {
    const answers = new Answers();
    const add = (answer: Answer): StepDouble => {
      answers.add(answer);
      return double;
    };
    const double: StepDouble = {
      gives: (value) => add(giving(value)),
      fails: (error) => add(failing(error)),
      hangs: () => add(HANGING),
      runs: (run) => add(running(run)),
      callsThrough: () => add(CALLING_THROUGH),
      optional: () => {
        answers.areOptional = true;
        return double;
      },
      calls: () => this.#callsOf(step),
      rollback: () => this.of(step.actor, step.path, true),
    };
    return { ...step, answers, double };
  }

  #answerTo(attempt: StepAttempt): Answer | undefined {
    for (const declared of [...this.#declared.values()].reverse()) {
      const answer = isMeant(declared, attempt) && declared.answers.take();
      if (answer) return answer;
    }
    return undefined;
  }

  #callsOf(step: Step): StepCall[] {
    return this.calls.all.filter((call) => isMeant(step, call.of)).map((call) => call.view());
  }

  #unused(declared: Declared): string {
    const { actor, path, isRollback } = declared;
    const kind = isRollback ? "rollback of step" : "step";
    const unused = `The double of ${kind} ${describeStep(path)} of actor ${JSON.stringify(actor)} was never used`;
    const taker = this.#takerFrom(declared);
    if (taker) return `${unused}: that of ${describeStep(taker.path)}, declared later, took its attempts`;
    const seen = this.calls.all.filter(({ of }) => of.name === actor && of.isRollback === isRollback);
    const places = new Set(
      seen.map(({ of: { step } }) => describeStep(typeof path === "string" ? String(step.at(-1)) : step)),
    );
    const ran = places.size === 0 ? "none ran" : `those that ran are ${listed([...places])}`;
    return `${unused}: ${ran}`;
  }

  /** A double that was declared later, and gave an answer to an attempt which this one was for, too. */
  #takerFrom(declared: Declared): Declared | undefined {
    const all = [...this.#declared.values()];
    const taken = this.calls.all.filter(({ of }) => isMeant(declared, of));
    return all
      .slice(all.indexOf(declared) + 1)
      .find((later) => taken.some(({ of, answer }) => isMeant(later, of) && later.answers.has(answer)));
  }
}

function isMeant(step: Step, attempt: Pick<StepAttempt, "name" | "step" | "isRollback">): boolean {
  return step.actor === attempt.name && step.isRollback === attempt.isRollback && matchesStep(step.path, attempt.step);
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).join(", ");
  return names.length > MAX_NAMES ? `${shown} and ${names.length - MAX_NAMES} more` : shown;
}
