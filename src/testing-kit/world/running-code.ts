import type { StepAttempt, UserCodeWatch } from "../../actor/index.js";
import { isThenable } from "../../protocol/index.js";
import type { ActorProcess, WorldActor } from "../../testing/index.js";
import { Code } from "./code.js";
import { CURRENT, type CountedCode } from "./current-code.js";
import { MaskedErrors } from "./masked-errors.js";

/** The user code of one world: which of it runs now. */
export class RunningCodes {
  readonly masked = new MaskedErrors();
  readonly #changed: () => void;
  readonly #running = new Set<Code>();
  /** What has not ended, of each living process. */
  readonly #ofActor = new Map<WorldActor, Set<Code>>();

  /** `changed` is called when something has begun or ceased to run. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get isAny(): boolean {
    return this.#running.size > 0;
  }

  /** What runs, for people: `step "charge" of order ["o-1"]`. */
  describe(): string[] {
    return [...this.#running].map(({ what, actor }) =>
      actor ? `${what} of ${actor.name} ${JSON.stringify(actor.key)}` : what,
    );
  }

  /** Runs what happens to an object. */
  enter<T>({ actor }: ActorProcess, event: () => T): T {
    return CURRENT.run({ actor, code: undefined }, event);
  }

  /** Follows the user code of one process. */
  watch(process: ActorProcess): UserCodeWatch {
    const current = (): CountedCode | undefined => CURRENT.getStore()?.code;
    return {
      begin: (what, isEndless = false) => {
        const code = this.#begin(what, process.actor, process);
        // Such code may await the actor's end, which nothing but its real work tells from what it does itself.
        if (isEndless) code.waits(new Promise(() => {}));
        return code;
      },
      waits: (promise) => current()?.waits(promise),
      lingers: (promise) => current()?.lingers(promise),
      masked: (errorId, thrown) => this.masked.add({ objectId: process.actor.objectId, errorId, thrown }),
    };
  }

  /** Runs the callback of an attempt, or what stands in its place, until it settles or the attempt ends. */
  attempt(attempt: StepAttempt, run: () => unknown): unknown {
    const actor = CURRENT.getStore()?.actor;
    const name = attempt.location.at(-1);
    const code = this.#begin(`step ${JSON.stringify(name)} (attempt ${attempt.attempt})`, actor);
    const end = (): void => code.end();
    let returned: unknown;
    try {
      returned = code.call(run);
    } catch (error) {
      end();
      throw error;
    }
    if (!isThenable(returned)) end();
    else {
      attempt.abortSignal.addEventListener("abort", end, { once: true });
      Promise.resolve(returned).then(end, end);
    }
    return returned;
  }

  /** Makes a call for the test: it waits, except for what it reads itself. */
  call<T>(what: string, call: () => Promise<T>): Promise<T> {
    const code = this.#begin(what, undefined);
    const answer = code.call(call);
    code.waits(answer);
    const end = (): void => code.end();
    answer.then(end, end);
    return answer;
  }

  /** Begins what the user code that runs now waits for. */
  waitFor<T>(begin: () => Promise<T>): Promise<T> {
    const answer = begin();
    CURRENT.getStore()?.code?.waits(answer);
    return answer;
  }

  /** Begins real work of the user code that runs now. */
  work<T>(begin: () => Promise<T>): Promise<T> {
    const code = CURRENT.getStore()?.code;
    const work = begin();
    code?.countRealWork(1);
    const ended = (): void => code?.countRealWork(-1);
    work.then(ended, ended);
    return work;
  }

  /** Nothing of what runs in the object's process is seen any more. */
  processEnded(actor: WorldActor): void {
    for (const code of this.#ofActor.get(actor) ?? []) this.#running.delete(code);
    this.#ofActor.delete(actor);
    this.#changed();
  }

  #begin(what: string, actor: WorldActor | undefined, process?: ActorProcess): Code {
    const codes = actor && this.#codesOf(actor);
    const code = new Code(what, actor, () => {
      if (codes && (this.#ofActor.get(actor) !== codes || process?.isAlive() === false)) return;
      const ran = this.#running.has(code);
      if (code.isOver) codes?.delete(code);
      if (code.runs === ran) return;
      if (ran) this.#running.delete(code);
      else this.#running.add(code);
      this.#changed();
    });
    if (process?.isAlive() === false) return code;
    codes?.add(code);
    this.#running.add(code);
    this.#changed();
    return code;
  }

  #codesOf(actor: WorldActor): Set<Code> {
    let codes = this.#ofActor.get(actor);
    if (!codes) this.#ofActor.set(actor, (codes = new Set()));
    return codes;
  }
}
