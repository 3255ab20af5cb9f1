import { own } from "../../protocol/index.js";
import { clip, ownStoredError, type StoredError } from "./stored-error.js";
import type { Location } from "./location.js";

/** What an entry records. A `try` block has no entry; `tryStep` uses its step's; `branch_results` belong to a join or race. */
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
 * - `running`: an attempt started while the activation was careful, after a crash (ALARM-14)
 * - `completed`, `failed`: terminal, never runs again
 */
export type EntryStatus = "pending" | "running" | "completed" | "failed";

/** The names that a history from outside may use. */
export const KINDS_OF_ENTRIES: ReadonlySet<string> = new Set<EntryKind>([
  "step",
  "loop",
  "sleep",
  "message",
  "rollback_checkpoint",
  "join",
  "race",
  "branch_results",
  "removed",
  "version_check",
]);
export const STATUSES_OF_ENTRIES: ReadonlySet<string> = new Set<EntryStatus>([
  "pending",
  "running",
  "completed",
  "failed",
]);

/** Decides which error class the caller sees, live and on replay (FLOW-4). */
export type FailureKind = "exhausted" | "critical" | "timeout" | "rollback" | "join" | "race" | "evicted" | "error";

export interface Failure {
  readonly kind: FailureKind;
  readonly error: StoredError;
  /** True for a timeout that used up the retries of `retryOnTimeout`. */
  readonly exhausted?: boolean;
  /** For the failure of a run or a branch: `seq` of the operation whose error ended it. */
  readonly seq?: number;
  /** For a branch: a step's own failure, already reported as such. */
  readonly ofStep?: boolean;
}

/** An attempt of a step that failed, for people: nothing depends on it. */
export interface FailedAttempt {
  /** 1-based. */
  readonly attempt: number;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly ms: number;
  readonly name: string;
  readonly message: string;
}

/** How many failed attempts an entry keeps, the last ones, and the most UTF-16 units of their texts before an ellipsis. */
export const MAX_FAILED_ATTEMPTS = 5;
const MAX_ATTEMPT_NAME = 99;
const MAX_ATTEMPT_MESSAGE = 299;

/** One line of history. */
export interface Entry {
  /** From the actor's one counter: the order in which operations were first met. */
  readonly seq: number;
  /** The number of its row, unless that is `seq`: that of a pruned entry, which it has overwritten (FLOW-19). */
  row?: number;
  readonly location: Location;
  readonly kind: EntryKind;
  status: EntryStatus;
  /** Counter at the last write: shows a boot whether anything changed since an earlier one. */
  rev: number;
  /** Attempts that ended, successful or not. */
  attempts: number;
  /** Consecutive attempts cut off by a crash. */
  interrupted: number;
  /** Epoch ms of the deadline this entry waits for. */
  dueAt?: number;
  /** The recorded result, encoded by the value codec. */
  value?: Uint8Array;
  /** The terminal failure if the status is `failed`, else that of the last attempt. */
  failure?: Failure;
  /** Counter when the entry completed: rollback runs in the reverse order. */
  completedSeq?: number;
  /** Plain data that depends on the kind: loop position, branch names, version. */
  data?: unknown;
  /** When the operation was first met, or was started over; epoch ms. Undefined if an earlier release recorded it. */
  startedAt?: number;
  /** ms from `startedAt` to the end, once terminal; never negative. */
  ms?: number;
  /** Of a step: when its last attempt started, unless that is `startedAt`; epoch ms. */
  attemptStartedAt?: number;
  /** Of a step: its last failed attempts, the oldest first. */
  failedAttempts?: readonly FailedAttempt[];
  /** Of a step: its value was given by an owner. For people: nothing depends on it. */
  skipped?: true;
}

/** Its instances inherit nothing and are as fast as those of any class. */
const Bare = function (this: Writable, members: Entry): void {
  this.seq = members.seq;
  this.location = members.location;
  this.kind = members.kind;
  this.status = members.status;
  this.rev = members.rev;
  this.attempts = members.attempts;
  this.interrupted = members.interrupted;
  if (Object.hasOwn(members, "data")) this.data = members.data;
} as unknown as new (members: Entry) => Entry;
Bare.prototype = Object.create(null) as Entry;

type Writable = { -readonly [Member in keyof Entry]: Entry[Member] };

type LaterMember =
  | "row"
  | "dueAt"
  | "value"
  | "failure"
  | "completedSeq"
  | "startedAt"
  | "ms"
  | "attemptStartedAt"
  | "failedAttempts"
  | "skipped";

/** Makes a new entry that has these members only, whatever was assigned to `Object.prototype`. */
export function makeEntry(members: Omit<Entry, LaterMember>): Entry {
  return new Bare(members);
}

/** A decoded failure with its own members only. */
export function ownFailure(decoded: Failure): Failure {
  const failure = own(decoded);
  return own({ ...failure, error: ownStoredError(failure.error) });
}

/** The number in the key of its row. */
export function rowOf(entry: Pick<Entry, "seq" | "row">): number {
  return entry.row ?? entry.seq;
}

/** Records when an entry ended, epoch ms, unless it has ended before or an earlier release began it. */
export function endAt(entry: Entry, time: number): void {
  if (entry.startedAt !== undefined && entry.ms === undefined) entry.ms = Math.max(0, time - entry.startedAt);
}

/** An attempt of a step starts now, epoch ms. */
export function beginAttempt(entry: Entry, now: number): void {
  const at = Math.max(now, entry.startedAt ?? now);
  if (entry.attemptStartedAt !== undefined || at !== entry.startedAt) entry.attemptStartedAt = at;
}

/** An attempt of a step has failed now, epoch ms: the entry keeps it among the last ones. */
export function failAttempt(entry: Entry, failure: Failure, now: number): void {
  entry.failure = failure;
  const { name, message } = failure.error;
  const startedAt = entry.attemptStartedAt ?? entry.startedAt;
  if (startedAt === undefined) return;
  const failed = {
    attempt: entry.attempts,
    startedAt,
    ms: Math.max(0, now - startedAt),
    name: clip(name, MAX_ATTEMPT_NAME),
    message: clip(message, MAX_ATTEMPT_MESSAGE),
  };
  entry.failedAttempts = [...(entry.failedAttempts ?? []).slice(1 - MAX_FAILED_ATTEMPTS), failed];
}

/** A step is completed by its owner with a value, now, epoch ms; `seq` is the next one. */
export function skipStep(entry: Entry, value: Uint8Array, now: number, seq: number): void {
  entry.status = "completed";
  entry.value = value;
  entry.completedSeq = seq;
  entry.skipped = true;
  delete entry.failure;
  delete entry.dueAt;
  endAt(entry, now);
}

/** The entry starts over now, epoch ms: nothing of its earlier times counts. */
export function resetTimes(entry: Entry, now: number): void {
  entry.startedAt = now;
  delete entry.ms;
  delete entry.attemptStartedAt;
  delete entry.failedAttempts;
  delete entry.skipped;
}

/** True once nothing will change the entry's outcome. */
export function isTerminal(entry: Entry): boolean {
  return entry.status === "completed" || entry.status === "failed";
}
