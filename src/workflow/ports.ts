import type { CallLink } from "../protocol/index.js";
import type { Entry } from "./history/entry.js";
import type { Location } from "./history/location.js";
import type { HistoryDivergedError } from "./errors.js";

/** A structured logger. The engine writes few lines and no secrets. */
export interface EngineLog {
  debug(fields: Record<string, unknown>): void;
  warn(fields: Record<string, unknown>): void;
  error(fields: Record<string, unknown>): void;
}

/** Describes the attempt that is about to start. */
export interface AttemptInfo {
  readonly stepName: string;
  /** The step's location, formatted. */
  readonly location: string;
  /** 1-based. */
  readonly attempt: number;
  readonly maxRetries: number;
  readonly abortSignal: AbortSignal;
}

/** One attempt's view of the actor. */
export interface AttemptSession {
  /** Passed to the step's callback. */
  readonly context: object;
  /** True if the actor's state may have changed since the attempt began. */
  readonly changedState: boolean;
  /** Calls the callback: what it changes in this turn waits for the commit of its end, if that comes in this turn. */
  call(callback: () => unknown): unknown;
  /**
   * Resolves when the effects that the callback started without awaiting have ended; undefined if there are none. Rejects with
   * the first rejection that nobody handles.
   */
  begun(): Promise<void> | undefined;
  /** True for an error with which the state rejected a write of the step: a retry would fail the same way. */
  isRefusal(thrown: unknown): boolean;
  /** The attempt succeeded: its staged writes join the commit that records it. Throws for values that cannot be stored. */
  succeed(): void;
  /** The attempt is over: its context, and every state object read from it, throws from now on. */
  close(): void;
}

/** An attempt whose callback is about to run. */
export interface InterceptedAttempt {
  /** Where its entry is: the step's location; for a rollback handler, one below a number. */
  readonly location: Location;
  /** 1-based. */
  readonly attempt: number;
  /** What the callback gets. */
  readonly context: object;
  readonly abortSignal: AbortSignal;
  /** Runs the callback: returns or throws what it does. */
  run(): unknown;
}

/** How a workflow ended for good. */
export type Outcome =
  | { readonly status: "completed"; readonly value: Uint8Array }
  | { readonly status: "failed"; readonly error: unknown; readonly rollbackErrors?: readonly unknown[] }
  | { readonly status: "cancelled"; readonly rollbackErrors?: readonly unknown[] };

/** A failed attempt of a step. */
export interface AttemptReport {
  readonly stepName: string;
  /** 1-based. */
  readonly attempt: number;
  readonly maxRetries: number;
  readonly remainingRetries: number;
  readonly willRetry: boolean;
  /** ms until the next attempt. */
  readonly retryDelay?: number;
  /** When the next attempt starts, epoch ms. */
  readonly retryAt?: number;
  /** How long the attempt took. */
  readonly ms?: number;
  readonly error: unknown;
}

/** A step, rollback or workflow failure, reported in the order in which it happened (FLOW-17). */
export type FailureReport =
  | { readonly step: AttemptReport }
  | { readonly rollback: { readonly stepName: string; readonly error: unknown } }
  /** `reported`: already reported as a step's failure. */
  | { readonly workflow: { readonly error: unknown; readonly reported?: true } };

/** A message as stored; `body` is encoded by the value codec. */
export interface StoredMessage {
  readonly id: number;
  readonly name: string;
  readonly body: Uint8Array;
  /** Epoch ms; never decreases within an actor. */
  readonly createdAt: number;
  /** Epoch ms until which the sender waits for a reply; undefined if it does not wait. */
  readonly waitUntil?: number;
  /** 32 hex digits by which a waiting sender reattaches. */
  readonly token?: string;
  /** The chain of callers waiting for the reply, the sender last. */
  readonly chain?: readonly CallLink[];
}

/** Which messages a receive takes. */
export interface MessageFilter {
  /** Queue names; undefined: any. */
  readonly names: readonly string[] | undefined;
  readonly count: number;
  /** Epoch ms: a later message does not belong to this wait (ALARM-6). */
  readonly notAfter: number;
  /** Completable: the message stays stored, invisible to other receivers, until it is completed. */
  readonly hold: boolean;
}

/** The actor's queue, as receives see it. What they take and put back joins the dirty set. */
export interface MessagePort {
  /** `createdAt` of the first message that matches, epoch ms. */
  firstAt(filter: MessageFilter): number | undefined;
  /** Takes the matching messages with the lowest ids, up to `count` and to what one entry can hold. */
  take(filter: MessageFilter): StoredMessage[];
  /** Makes messages visible again under their old ids. */
  putBack(messages: readonly StoredMessage[], held: boolean): void;
  /**
   * Validates and encodes the reply to a message; synchronous where the validator is.
   *
   * @throws {queue/invalid_completion_payload} when the validator rejects the reply
   */
  encodeReply(message: StoredMessage, response: unknown): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** Deletes a held message and replies to its sender, with the next commit. */
  complete(message: StoredMessage, reply: Uint8Array | undefined): void;
  /** The queue of some uncompleted message that the workflow holds, anywhere, if it is among the names. */
  heldAmong(names: readonly string[] | undefined): string | undefined;
}

/**
 * Everything the engine needs from its actor. The engine has no clock, id source, timer or storage of its own (FLOW-1).
 * Writes go to the actor's one dirty set; `commit` writes all of it.
 */
export interface WorkflowPorts {
  /** Epoch ms. */
  now(): number;
  /** Lets every other event of the object have its turn (FLOW-12). */
  yield(): Promise<void>;
  /** The actor's one counter. */
  nextSeq(): number;
  put(entry: Entry): void;
  /** Deletes the row of an entry, by its number. */
  delete(row: number): void;
  /** The entries put in this turn need this storage format: older releases would misread them. */
  requireFormat(format: number): void;
  /** Writes everything dirty in one atomic commit. False: the activation is lost and nothing may continue. */
  commit(): boolean;
  /** Work starts that a crash would interrupt: the lease joins the dirty set unless it is held already. */
  beginWork(): void;
  /** Nothing can move until a deadline or a message: the next commit releases the lease. */
  parked(): void;
  /** The deadlines held in memory changed; the host keeps one timer for the earliest. */
  timersChanged(): void;
  /** True from a boot that found a lease until the next park: attempts are then recorded before they start. */
  isCareful(): boolean;
  /** Resolves when all commits so far would survive a kill at this instruction; never, if the activation is lost. */
  confirmed(): Promise<void>;
  openAttempt(info: AttemptInfo): AttemptSession;
  /**
   * Runs an attempt's callback, or something in its place: what it returns or throws counts as the callback's. Without it,
   * callbacks run as they are.
   */
  readonly interceptAttempt?: ((attempt: InterceptedAttempt) => unknown) | undefined;
  /** Told when scopes begin to run user code, and when none does any more: for tests that move the clock. */
  readonly userCodeRuns?: ((runs: boolean) => void) | undefined;
  /** The workflow ended; its outcome joins the dirty set. */
  finished(outcome: Outcome): void;
  /** The workflow failed and rollback begins; that joins the dirty set. */
  rollingBack(error: unknown): void;
  /** The code does not match the history; nothing was changed (FLOW-6). */
  diverged(error: HistoryDivergedError): void;
  report(failure: FailureReport): void;
  readonly messages: MessagePort;
  readonly log: EngineLog;
}
