import { own } from "../../protocol/index.js";
import { ownStoredError, type StoredError } from "./stored-error.js";
import type { Location } from "./location.js";

/** What an entry records. A `try` block has none of its own; `tryStep` uses its step's; `branch_results` belong to a join or race. */
export type EntryKind =
  | "step"
  | "loop"
  | "sleep"
  | "message"
  | "rollback_checkpoint"
  | "join"
  | "race"
  | "branch_results"
  | "removed"
  | "version_check";

/**
 * - `pending`: waits (a sleep, a receive, a step between attempts, an open loop, join or race)
 * - `running`: an attempt was begun under care after a crash (ALARM-14)
 * - `completed`, `failed`: terminal, never run again
 */
export type EntryStatus = "pending" | "running" | "completed" | "failed";

/** How a step ended for good; it decides which error class its caller sees, live and on replay (FLOW-4). */
export type FailureKind = "exhausted" | "critical" | "timeout" | "rollback" | "join" | "race" | "evicted" | "error";

export interface Failure {
  readonly kind: FailureKind;
  readonly error: StoredError;
  /** A timeout that used up the retries of `retryOnTimeout`. */
  readonly exhausted?: boolean;
  /** Of the end of a run or a branch: counter of the operation whose error ended it. */
  readonly seq?: number;
  /** Of a branch: a step's own failure, which a step's event has told. */
  readonly ofStep?: boolean;
}

/** One line of history. */
export interface Entry {
  /** From the actor's one counter; the storage key, and the order in which operations were met. */
  readonly seq: number;
  readonly location: Location;
  readonly kind: EntryKind;
  status: EntryStatus;
  /** Counter at the last write: tells a boot whether anything moved since an earlier one. */
  rev: number;
  /** Attempts that ended, with either result. */
  attempts: number;
  /** Attempts in a row that a crash cut off. */
  interrupted: number;
  /** Epoch ms of the deadline this entry waits for. */
  dueAt?: number;
  /** The recorded result, encoded by the value codec. */
  value?: Uint8Array;
  /** Of the last failed attempt, or the terminal failure when the status is `failed`. */
  failure?: Failure;
  /** Counter when the entry completed: the order that rollback reverses. */
  completedSeq?: number;
  /** What a kind keeps beside that: loop position, branch names, versions. Plain data. */
  data?: unknown;
}

/** What it makes inherits nothing, and is as fast as an object of any class. */
const Bare = function () {} as unknown as new () => Entry;
Bare.prototype = Object.create(null) as Entry;

/** An entry with these members and no others, whatever anybody has assigned to `Object.prototype`. */
export function makeEntry(members: Entry): Entry {
  return Object.assign(new Bare(), members);
}

/** A failure as it was decoded, with the members that it has and no others. */
export function ownFailure(decoded: Failure): Failure {
  const failure = own(decoded);
  return own({ ...failure, error: ownStoredError(failure.error) });
}

/** True once nothing will change the entry's outcome. */
export function isTerminal(entry: Entry): boolean {
  return entry.status === "completed" || entry.status === "failed";
}
