/**
 * Every run of a step in a world, and whether its result was stored.
 *
 * Invariant: a run is followed by another of the same attempt only if it was cut off, or its result lost with its process:
 * then, and only then, it counts as lost.
 */
import { KEYS, type StepAttempt } from "../../actor/index.js";
import { decodeEntry, type Location } from "../../workflow/index.js";
import { HANGING, type Answer } from "./answer.js";
import { AttemptCall } from "./step-call.js";

/** How many runs are kept: the latest. */
const MAX_CALLS = 100_000;

/** An object, by the name and key of its actor. */
type ObjectOf = Pick<StepAttempt, "name" | "key">;

/** The runs of one object. */
interface Runs {
  /** Those of the living process whose results are not known to be stored, by the place of their entry. */
  readonly open: Map<string, AttemptCall>;
  /** Those that were lost and did not follow again, by their attempt. */
  readonly lost: Map<string, AttemptCall>;
  /** All rows as they were when these were last looked for. */
  stored: ReadonlyMap<string, Uint8Array> | undefined;
}

export class StepCalls {
  #all: AttemptCall[] = [];
  readonly #runs = new Map<string, Runs>();

  get all(): readonly AttemptCall[] {
    return this.#all;
  }

  /** Takes the run of the same attempt that was lost, if this one follows it. */
  takeLost(attempt: StepAttempt): AttemptCall | undefined {
    const { lost } = this.#of(attempt);
    const before = lost.get(attemptOf(attempt));
    lost.delete(attemptOf(attempt));
    return before;
  }

  begin(attempt: StepAttempt, answer: Answer | undefined): AttemptCall {
    const call = new AttemptCall(attempt, answer);
    this.#all.push(call);
    if (this.#all.length >= 2 * MAX_CALLS) this.#all = this.#all.slice(-MAX_CALLS);
    this.#of(attempt).open.set(placeOf(attempt.location), call);
    return call;
  }

  /** These rows of an object, all or those that changed, are stored: what they record of its runs is not lost any more. */
  stored(object: ObjectOf, rows: ReadonlyMap<string, Uint8Array>): void {
    const runs = this.#of(object);
    if (!hasSettled(runs.open)) return;
    const before = runs.stored;
    runs.stored = rows;
    for (const [key, bytes] of rows) {
      if (!key.startsWith(KEYS.entries) || before?.get(key) === bytes) continue;
      const { location, attempts } = decodeEntry(Number(key.slice(KEYS.entries.length)), bytes);
      const call = runs.open.get(placeOf(location));
      if (call && attempts >= call.of.attempt) runs.open.delete(placeOf(location));
    }
  }

  /** Whether runs of an object are pending, and only time ends them: an answer that is on its way is none of these. */
  hangs(object: ObjectOf): boolean {
    const pending = [...this.#of(object).open.values()].filter(({ isPending }) => isPending);
    return pending.length > 0 && pending.every(({ answer }) => answer === HANGING);
  }

  /** An object has left memory: what its runs have not stored is lost. */
  ended(object: ObjectOf): void {
    const runs = this.#of(object);
    for (const call of runs.open.values()) {
      call.lose();
      if (call.isLost) runs.lost.set(attemptOf(call.of), call);
    }
    runs.open.clear();
    runs.stored = undefined;
  }

  /** The actor is destroyed: what comes next under its key is another. */
  destroyed(object: ObjectOf): void {
    this.#of(object).lost.clear();
  }

  #of({ name, key }: ObjectOf): Runs {
    const id = JSON.stringify([name, ...key]);
    let runs = this.#runs.get(id);
    if (!runs) this.#runs.set(id, (runs = { open: new Map(), lost: new Map(), stored: undefined }));
    return runs;
  }
}

/** The commits while a run works record nothing of it. */
function hasSettled(open: ReadonlyMap<string, AttemptCall>): boolean {
  for (const { isPending } of open.values()) if (!isPending) return true;
  return false;
}

function placeOf(location: Location): string {
  return JSON.stringify(location);
}

function attemptOf({ location, attempt }: Pick<StepAttempt, "location" | "attempt">): string {
  return JSON.stringify([location, attempt]);
}
