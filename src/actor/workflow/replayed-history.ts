/** Replays a recorded history against the workflow that a registry has now. */
import { has, NEWEST_STORAGE_FORMAT, own } from "../../protocol/index.js";
import { describeThrown, formatLocation, isTerminal, type Entry } from "../../workflow/index.js";
import type { CompiledActor } from "../definition/compiled-actor.js";
import { fromPortable, type PortableEntry } from "./portable-entry.js";
import { startReplay, type ReplayEnd } from "./replay.js";
import { HISTORY_FORMAT, type RecordedHistory, type RecordedRun } from "./recorded-history.js";
import { workflowOf } from "./workflow-definition.js";

/** How today's code did on a recorded history. */
export type Verdict =
  /** The code met everything that was recorded. */
  | { readonly outcome: "matched" }
  /** It did not: it called `expected` at `location`, where the history has `found`. */
  | {
      readonly outcome: "diverged";
      readonly message: string;
      readonly location: string;
      readonly found: string | undefined;
      readonly expected: string | undefined;
    }
  /** It did not either, but only after it had been given a redacted value, that of `redacted`. */
  | { readonly outcome: "cannot tell"; readonly message: string; readonly location: string; readonly redacted: string }
  /** It could not be replayed. */
  | { readonly outcome: "failed"; readonly message: string };

export interface ReplayHost {
  /** Lets other events have their turn. */
  readonly nextTurn: () => Promise<void>;
  /** The Worker's bindings and variables. */
  readonly env: object;
  /** Resolves when a replay that has not ended is to be given up. */
  readonly givenUp: Promise<void>;
}

const STATUSES_OF_RUNS: ReadonlySet<unknown> = new Set<RecordedRun["status"]>([
  "running",
  "rolling_back",
  "completed",
  "failed",
  "cancelled",
]);

/** Checks the frame of what a file holds. @throws {TypeError} when it is not a history that this release reads */
export function checkHistory(given: unknown): RecordedHistory {
  const isRecord = typeof given === "object" && given !== null && !Array.isArray(given);
  const history = own(isRecord ? (given as RecordedHistory) : undefined) as unknown as RecordedHistory;
  const format: unknown = isRecord ? history.format : undefined;
  if (format !== HISTORY_FORMAT) {
    const found = typeof format === "string" ? `its format is ${JSON.stringify(format)}` : "it names no format";
    throw new TypeError(`It is not a history that this release reads: ${found}, not "${HISTORY_FORMAT}"`);
  }
  const { storage, actor, actorId, key, entries, recordedAt, run } = history;
  if (!Number.isInteger(storage) || storage > NEWEST_STORAGE_FORMAT)
    throw new TypeError(
      `Its storage format is ${String(storage)}, and this release reads up to ${NEWEST_STORAGE_FORMAT}: update the package`,
    );
  if (typeof actor !== "string" || typeof actorId !== "string")
    throw new TypeError('"actor" and "actorId" must be strings');
  if (!Array.isArray(key) || !key.every((part) => typeof part === "string"))
    throw new TypeError('"key" must be an array of strings');
  if (typeof recordedAt !== "number" || !Number.isFinite(recordedAt))
    throw new TypeError('"recordedAt" must be a number, epoch ms');
  if (!Array.isArray(entries)) throw new TypeError('"entries" must be an array');
  if (typeof run !== "object" || run === null || !STATUSES_OF_RUNS.has(own(run).status))
    throw new TypeError(`"run" must be an object with a status: ${[...STATUSES_OF_RUNS].join(", ")}`);
  return history;
}

/**
 * Replays a history without running a step.
 *
 * @throws {TypeError} when the history is not valid, or the actor has no workflow
 */
export async function replayHistory(actor: CompiledActor, given: unknown, host: ReplayHost): Promise<Verdict> {
  const history = checkHistory(given);
  const run = actor.parts.map(({ carrier }) => workflowOf(carrier)?.run).find((found) => found !== undefined);
  if (!run) throw new TypeError(`The actor "${history.actor}" of the registry has no workflow`);
  const entries = readEntries(history.entries);
  const redacted = new Redacted(history);
  const replay = startReplay({
    run,
    entries,
    identity: {
      actorId: history.actorId,
      name: history.actor,
      env: host.env,
      get key() {
        return redacted.keyIsRead(history.key);
      },
    },
    now: history.recordedAt,
    nextTurn: host.nextTurn,
    onMet: (entry) => redacted.isMet(entry),
  });
  const end = await Promise.race([replay.end, host.givenUp.then((): undefined => undefined)]);
  const waiting = end ? [] : replay.inUserCode();
  replay.stop();
  if (end) return redacted.judge(verdictOf(end, history));
  const message =
    `The code awaits something at ${waiting.join(", ") || "(root)"} that is not an operation of its context and ` +
    "does not come: put it in a step";
  return { outcome: "failed", message };
}

function readEntries(given: readonly PortableEntry[]): Entry[] {
  const numbers = new Set<number>();
  const places = new Set<string>();
  return given.map((each, index) => {
    try {
      const entry = fromPortable(each);
      if (numbers.size === numbers.add(entry.seq).size)
        throw new TypeError(`"seq" ${entry.seq} is that of an entry before it`);
      if (places.size === places.add(JSON.stringify(entry.location)).size)
        throw new TypeError('"at" is that of an entry before it');
      return entry;
    } catch (error) {
      throw new TypeError(`Entry ${index + 1} cannot be read: ${(error as Error).message}`, { cause: error });
    }
  });
}

function verdictOf(end: ReplayEnd, history: RecordedHistory): Verdict {
  if (end.kind === "diverged") {
    const { error, thrown } = end;
    const because = has(end, "thrown") ? `. The code had thrown ${describeThrown(thrown)}` : "";
    const { location, found, expected, message } = error;
    return { outcome: "diverged", message: `${message}${because}`, location, found, expected };
  }
  if (end.kind === "ended" && end.outcome.status === "failed" && own(history.run).status === "completed") {
    const thrown = describeThrown(end.outcome.error);
    const message = `The code failed at its end with ${thrown}, but the recorded run completed`;
    return { outcome: "diverged", message, location: "(root)", found: "the end of the run", expected: thrown };
  }
  return { outcome: "matched" };
}

/** Which redacted values the code has been given so far. */
class Redacted {
  readonly #sources = new Map<string, string>();
  readonly #hasKey: boolean;
  #given: string | undefined;

  constructor({ entries, redacted }: RecordedHistory) {
    this.#hasKey = Number(own(redacted ?? {}).key ?? 0) > 0;
    for (const { at, kind, redacted: count } of entries.map(own)) {
      // The results of branches are those of their join, given when it has ended.
      const source = kind === "branch_results" ? at.slice(0, -1) : at;
      if (Number(count ?? 0) > 0) this.#sources.set(JSON.stringify(source), formatLocation(source));
    }
  }

  isMet(entry: Entry): void {
    if (this.#sources.size === 0 || !givesAValue(entry)) return;
    this.#given ??= this.#sources.get(JSON.stringify(entry.location));
  }

  keyIsRead<T>(key: T): T {
    if (this.#hasKey) this.#given ??= "the actor's key";
    return key;
  }

  /** What follows a redacted value says nothing about the code. */
  judge(verdict: Verdict): Verdict {
    if (verdict.outcome !== "diverged" || this.#given === undefined) return verdict;
    const { location, message } = verdict;
    const cannotTell = `After the redacted value of ${this.#given}, at ${location}: ${message}`;
    return { outcome: "cannot tell", message: cannotTell, location, redacted: this.#given };
  }
}

/** Whether the code receives something of an entry that it has met. */
function givesAValue(entry: Entry): boolean {
  return isTerminal(entry) || entry.kind === "loop";
}
