/**
 * How `recover` and `replayFrom` edit a history, so that the workflow's function can replay what stays.
 *
 * Owns: which entries are removed and which are reopened. Does not own: rows, messages and the run (the actor does).
 * Invariants: a step that was rolled back starts over and is not rolled back twice; entries that stay keep their order.
 */
import { decodeValue, ownField } from "../protocol/index.js";
import { branchResultRows } from "./branch-results.js";
import { EvictedError } from "./errors.js";
import { toBranchFailure } from "./failure.js";
import { endAt, isTerminal, resetTimes, type Entry, type Failure } from "./history/entry.js";
import type { History } from "./history/history.js";
import type { Location } from "./history/location.js";
import { keptWinner, losersOf } from "./ops/race.js";
import { HANDLERS } from "./rollback.js";

export class Restart {
  /** Removed from the history: the actor deletes their rows and returns their messages to the queue. */
  readonly removed = new Set<Entry>();
  /** Reopened, or marked as ended: the actor writes their rows. */
  readonly changed = new Set<Entry>();
  /** Reopened steps that had failed for good: those that ended the run. */
  readonly failedSteps = new Set<Entry>();
  /** The rows of pruned entries: the actor deletes them. */
  readonly vacant: readonly number[];
  readonly #history: History;
  readonly #now: number;

  /** `now`: epoch ms, from which what starts over counts its times. */
  constructor(history: History, now: number) {
    this.#history = history;
    this.#now = now;
    this.vacant = history.vacant.giveUp([]);
    this.#settlePassed();
  }

  /**
   * Reopens what failed and what was rolled back: the operation whose error ended the run, or, if that is unknown, every one
   * whose failure the code did not handle. Removes what was recorded after such a failure: the code may now take another path.
   */
  recover(failure: Failure): void {
    this.#failed(failure, []);
    this.#reopenUndone();
  }

  /**
   * Removes a target and everything after it, or everything; for a target in a loop, the whole loop. Joins and races around
   * it are reopened; parallel branches stay. Steps before it that were rolled back start over.
   */
  replayFrom(target?: Entry): void {
    if (target) this.#from(target);
    else for (const entry of this.#below([])) if (!isOfRollback(entry)) this.#remove(entry.location);
    this.#reopenUndone();
  }

  #from(target: Entry): void {
    const around = this.#around(target, []);
    const first = around.find(({ kind }) => kind === "loop") ?? target;
    this.#removeBehind(first, first.seq);
    this.#remove(first.location);
    for (const entry of around) if (isBranching(entry) && !this.removed.has(entry)) this.#reopen(entry);
  }

  #failed(failure: Failure, below: Location): void {
    const failedSeq = ownField(failure, "seq");
    const entry = failedSeq === undefined ? undefined : this.#below(below).find(({ seq }) => seq === failedSeq);
    if (entry)
      this.#startOver(
        this.#around(entry, below).find((each) => isBranching(each) && each.status === "failed") ?? entry,
        below,
      );
    else this.#unhandled(below);
  }

  /** Marks waits whose end only a later entry shows: that entry may be removed. */
  #settlePassed(): void {
    for (const entry of this.#below([])) {
      if ((entry.kind === "sleep" || entry.kind === "message") && !isTerminal(entry) && this.#history.isPassed(entry))
        this.#finish(entry);
    }
  }

  /** Reopens the steps whose rollback handler completed, in their recorded place. */
  #reopenUndone(): void {
    const handlers = this.#below(HANDLERS);
    const undone = new Set(
      handlers.filter(({ status }) => status === "completed").map(({ location }) => Number(location[1])),
    );
    for (const handler of handlers) this.#remove(handler.location);
    for (const entry of this.#below([])) {
      if (!undone.has(entry.seq)) continue;
      this.#reopen(entry);
      for (const around of this.#around(entry, [])) {
        if (!isBranching(around) || !isTerminal(around)) continue;
        this.#reopen(around, winnerOf(around));
      }
    }
  }

  #startOver(entry: Entry, below: Location): void {
    const { failure } = entry;
    // `rev`, not `seq`: a step that once succeeded and was rolled back keeps what followed it then.
    this.#removeBehind(entry, entry.kind === "message" ? entry.seq : entry.rev, below);
    if (entry.kind === "message") return this.#remove(entry.location);
    this.#reopen(entry, winnerOf(entry));
    if (!isBranching(entry)) return;
    const failures = ownField(
      (failure?.error.metadata ?? {}) as {
        readonly failures?: readonly { readonly name: string; readonly failure: Failure }[];
      },
      "failures",
    );
    if (!failures) return this.#unhandled(entry.location);
    for (const each of failures) this.#failed(each.failure, [...entry.location, each.name]);
  }

  /** The failed operation is unknown: takes all that neither completed nor failed in a way that the code handled. */
  #unhandled(below: Location): void {
    for (const entry of this.#below(below)) {
      if (
        this.removed.has(entry) ||
        isOfRollback(entry) ||
        entry.status === "completed" ||
        this.#history.isPassed(entry)
      )
        continue;
      if (isBranching(entry) || entry.kind === "step") this.#reopen(entry, winnerOf(entry));
      else if (entry.status === "failed") this.#remove(entry.location);
    }
  }

  /** Removes what was recorded after `since` in the entry's scope and the scopes around it. Parallel branches stay. */
  #removeBehind(entry: Entry, since: number, below: Location = []): void {
    for (let length = below.length; length < entry.location.length; length += 1) {
      const scope = entry.location.slice(0, length);
      if (length > 0 && this.#history.find(scope)) continue;
      for (const { name, ordinal, seq } of this.#history.operationsOf(scope)) {
        // Version gates too: one before an entry that stays then answers as for an old run.
        if (seq > since) this.#remove(ordinal === 0 ? [...scope, name] : [...scope, name, ordinal]);
      }
    }
  }

  #remove(location: Location): void {
    for (const entry of this.#history.removeTree(location)) {
      this.removed.add(entry);
      this.changed.delete(entry);
    }
  }

  /** Resets an entry to its initial state. `winner`: the race stays decided, and only that branch runs again. */
  #reopen(entry: Entry, winner?: string): void {
    if (isBranching(entry)) {
      if (isTerminal(entry))
        for (const each of this.#below(entry.location))
          if (each.kind === "sleep" || each.kind === "message") this.#finish(each);
      for (const row of branchResultRows(this.#history, entry.location)) this.#remove(row.location);
      const { branches } = entry.data as { readonly branches: readonly string[] };
      const lost = { f: toBranchFailure(new EvictedError("Another branch has won this race")) };
      const results =
        winner === undefined
          ? {}
          : Object.fromEntries(branches.filter((name) => name !== winner).map((name) => [name, lost]));
      const losers = winner === undefined ? [] : losersOf(entry);
      entry.data = { branches, results, ...(winner !== undefined && { winner }), ...(losers.length > 0 && { losers }) };
    }
    if (entry.kind === "step" && entry.status === "failed") this.failedSteps.add(entry);
    entry.status = "pending";
    entry.attempts = 0;
    entry.interrupted = 0;
    delete entry.dueAt;
    delete entry.value;
    delete entry.failure;
    delete entry.completedSeq;
    resetTimes(entry, this.#now);
    this.#change(entry);
  }

  /** Marks a wait as ended; without a value, its deadline passed. */
  #finish(entry: Entry): void {
    if (isTerminal(entry)) return;
    entry.status = "completed";
    endAt(entry, Math.min(entry.dueAt ?? this.#now, this.#now));
    delete entry.dueAt;
    this.#change(entry);
  }

  #change(entry: Entry): void {
    this.#history.add(entry);
    this.changed.add(entry);
  }

  /** Entries at and below a location, in the order they were first met. */
  #below(location: Location): Entry[] {
    return this.#history.entriesAt(location).sort((a, b) => a.seq - b.seq);
  }

  /** The loops, joins and races around an entry, below a location; the outermost first. */
  #around(entry: Entry, below: Location): Entry[] {
    const found: Entry[] = [];
    for (let length = below.length + 1; length < entry.location.length; length += 1) {
      const around = this.#history.find(entry.location.slice(0, length));
      if (around && (around.kind === "loop" || isBranching(around))) found.push(around);
    }
    return found;
  }
}

/** True for what rollback handlers recorded: its location starts with a number, which no name can be. */
export function isOfRollback(entry: Entry): boolean {
  return typeof entry.location[0] === "number";
}

function isBranching(entry: Entry): boolean {
  return entry.kind === "join" || entry.kind === "race";
}

/** The winner of a decided race, also if it has started over and failed since. */
function winnerOf(race: Entry): string | undefined {
  if (race.kind !== "race") return undefined;
  return race.value ? (decodeValue(race.value) as { readonly winner: string }).winner : keptWinner(race);
}
