import type { CallLink } from "../protocol/index.js";
import type { Entry } from "./history/entry.js";
import type { HistoryDivergedError } from "./errors.js";

/** Structured log sink; the engine writes few lines and no secrets. */
export interface EngineLog {
  debug(fields: Record<string, unknown>): void;
  warn(fields: Record<string, unknown>): void;
  error(fields: Record<string, unknown>): void;
}

/** What the engine tells about the attempt it is about to make. */
export interface AttemptInfo {
  readonly stepName: string;
  /** Where the step stands, as text. */
  readonly location: string;
  /** 1-based. */
  readonly attempt: number;
  readonly maxRetries: number;
  readonly abortSignal: AbortSignal;
}

/** One attempt's view of the actor. */
export interface AttemptSession {
  /** Handed to the step's callback. */
  readonly context: object;
  /** True if the actor's state may have changed since the attempt began. */
  readonly changedState: boolean;
  /**
   * Resolves when what the callback began, and the actor stores, has ended; undefined if nothing is open. Rejects with what was
   * refused and nobody handles.
   */
  begun(): Promise<void> | undefined;
  /** True for an error by which the state has refused a statement of the step: the same one would be refused again. */
  isRefusal(thrown: unknown): boolean;
  /** The attempt succeeded: what it staged joins the commit that records it. May throw for values that cannot be stored. */
  succeed(): void;
  /** The attempt is over: its context, and every state object got from it, throws from now on. */
  close(): void;
}

/** How a workflow ended for good. */
export type Outcome =
  | { readonly status: "completed"; readonly value: Uint8Array }
  | { readonly status: "failed"; readonly error: unknown; readonly rollbackErrors?: readonly unknown[] }
  | { readonly status: "cancelled" };

/** One failed attempt of a step. */
export interface AttemptReport {
  readonly stepName: string;
  /** 1-based. */
  readonly attempt: number;
  readonly maxRetries: number;
  readonly remainingRetries: number;
  readonly willRetry: boolean;
  /** ms until the next attempt, and the epoch ms at which it begins. */
  readonly retryDelay?: number;
  readonly retryAt?: number;
  readonly error: unknown;
}

/** A step, rollback or workflow failure, reported in the order in which it happened (FLOW-17). */
export type FailureReport =
  | { readonly step: AttemptReport }
  | { readonly rollback: { readonly stepName: string; readonly error: unknown } }
  /** `reported`: a step's event has told this failure already. */
  | { readonly workflow: { readonly error: unknown; readonly reported?: true } };

/** A message as it is stored; `body` is encoded by the value codec. */
export interface StoredMessage {
  readonly id: number;
  readonly name: string;
  readonly body: Uint8Array;
  /** Epoch ms; never decreases within an actor. */
  readonly createdAt: number;
  /** Epoch ms until which its sender waits for a reply, if it does. */
  readonly waitUntil?: number;
  /** 32 hex digits that its waiting sender knows it by. */
  readonly token?: string;
  /** Who waits for the reply, the sender last. */
  readonly chain?: readonly CallLink[];
}

/** Which messages a wait takes. */
export interface MessageFilter {
  /** Queue names; undefined: any. */
  readonly names: readonly string[] | undefined;
  readonly count: number;
  /** Epoch ms: a later message does not belong to this wait (ALARM-6). */
  readonly notAfter: number;
  /** Completable: the message stays stored, and is invisible to everybody else, until it is completed. */
  readonly hold: boolean;
}

/** The actor's queue, as the workflow's receives see it. What they take and put back joins the dirty set. */
export interface MessagePort {
  /** `createdAt` of the first message that fits, epoch ms. */
  firstAt(filter: MessageFilter): number | undefined;
  /** Takes the lowest ids that fit, up to `count` and to what one entry can hold. */
  take(filter: MessageFilter): StoredMessage[];
  /** Makes messages visible again under their old ids. */
  putBack(messages: readonly StoredMessage[], held: boolean): void;
  /**
   * Validates and encodes what a message is answered with, at once where the validator is synchronous.
   * @throws queue/invalid_completion_payload
   */
  encodeReply(message: StoredMessage, response: unknown): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** Deletes a held message and answers its sender, with the next commit. */
  complete(message: StoredMessage, reply: Uint8Array | undefined): void;
  /** Name of a message that the workflow holds uncompleted, anywhere, and whose queue is among the names. */
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
  delete(entry: Entry): void;
  /** What is put in this turn is in this format of the storage: older releases would misread it. */
  requireFormat(format: number): void;
  /** Writes all that is dirty, in one atomic commit. False: the activation is lost and nothing may go on. */
  commit(): boolean;
  /** Work begins that a crash would interrupt: the lease joins the dirty set unless it is held. */
  beginWork(): void;
  /** Nothing can move until a deadline or a message: the lease leaves with the next commit. */
  parked(): void;
  /** The set of deadlines that live in memory changed (the runtime keeps one timer for the earliest). */
  timersChanged(): void;
  /** True from the boot that found a lease until the next park: attempts are recorded before they start. */
  isCareful(): boolean;
  /** Resolves when all commits so far would survive a kill at this instruction; never, if the activation is lost. */
  confirmed(): Promise<void>;
  openAttempt(info: AttemptInfo): AttemptSession;
  /** The workflow ended; its outcome joins the dirty set. */
  finished(outcome: Outcome): void;
  /** The workflow failed and is being undone; that joins the dirty set. */
  rollingBack(error: unknown): void;
  /** The code does not match the history; nothing was changed (FLOW-6). */
  diverged(error: HistoryDivergedError): void;
  report(failure: FailureReport): void;
  readonly messages: MessagePort;
  readonly log: EngineLog;
}
