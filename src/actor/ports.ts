import type { CallLink } from "../protocol/index.js";
import type { InterceptedAttempt } from "../workflow/index.js";

/** `c.log`: as a LogSink, with children. */
export interface Logger extends LogSink {
  /** A logger whose lines have these fields, too. `c.log.child({ order: id }).info("paid")` */
  child(fields: Readonly<Record<string, unknown>>): Logger;
}

/** Structured log sink with pino's levels; each takes fields with `msg`, or a text. */
export interface LogSink {
  trace(entry: LogEntry): void;
  debug(entry: LogEntry): void;
  info(entry: LogEntry): void;
  warn(entry: LogEntry): void;
  error(entry: LogEntry): void;
  fatal(entry: LogEntry): void;
}
export type LogEntry = string | Readonly<Record<string, unknown>>;

/** One atomic write. */
export interface Batch {
  readonly puts: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
  readonly deletes: ReadonlySet<string>;
  /** Epoch ms of the physical alarm, null for none; absent: unchanged. */
  readonly alarmAt?: number | null;
}

/**
 * The storage of one actor. All methods but `getAlarm`, `sync` and `deleteAll` are synchronous.
 * Atomicity: a commit is all or nothing, and all commits of one synchronous turn (microtasks included) become durable
 * together at its end, as measured on the platform.
 */
export interface Store {
  /** Begins an activation. Commits of any earlier one are refused from now on (COMMIT-9). */
  activate(): StoreActivation;
}

export interface StoreActivation {
  /** The user's tables in the same storage, if it has any: SQL and commits of one turn become durable together. */
  readonly sql?: SqlDatabase;
  /** False once a later activation has begun: this one's commits are refused, and it must not begin anything. */
  readonly isCurrent: boolean;
  get(key: string): Uint8Array | undefined;
  /** All keys that begin with the prefix, in order of their text; of them, those that the options ask for. */
  list(prefix: string, options?: ListOptions): Iterable<readonly [key: string, value: Uint8Array]>;
  /** @throws whatever the storage says; nothing was written then, and the activation is lost */
  commit(batch: Batch): void;
  /** The physical alarm, epoch ms; null inside `alarm()`. */
  getAlarm(): Promise<number | null>;
  /** Resolves when all commits so far are confirmed. */
  sync(): Promise<void>;
  /** Deletes everything, alarm included. Not atomic: repeat until it succeeds. */
  deleteAll(): Promise<void>;
}

export interface ListOptions {
  /** The first key that may be listed. */
  readonly start?: string;
  /** The first key that may not. */
  readonly end?: string;
  /** At most so many, from the first of them on. */
  readonly limit?: number;
  /** From the last to the first. */
  readonly reverse?: boolean;
}

/** What a cell of a table may hold here; `ArrayBuffer` only on its way out. */
export type SqlCell = null | number | string | Uint8Array;

export interface SqlResult {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (SqlCell | ArrayBuffer)[])[];
  /** Whether anything was written. */
  readonly hasWritten: boolean;
}

/**
 * SQL on an actor's own database. It sees the user's tables only: what the runtime stores is out of its reach. Everything
 * throws once a later activation has begun.
 */
export interface SqlDatabase {
  /** Runs one statement, at once. @throws what the database says; the statement has changed nothing then */
  execute(sql: string, parameters: readonly SqlCell[]): SqlResult;
  /** Runs statements of one turn that are undone together if `work` throws. */
  atomically<T>(work: () => T): T;
  /**
   * Runs `work` in a transaction over several turns: undone if it rejects, or if the process dies before it has resolved.
   * No other event of the object is delivered meanwhile, and the platform resets the object after 30 s.
   *
   * A commit of the runtime must never be undone with it. `onCommit`: such a commit, or `leaving`, undoes the transaction
   * first and calls this. If one such transaction is open inside of another, they cannot be undone at once: both are told,
   * and the commit, or `leaving`, throws. Without it, commits become part of the transaction.
   */
  transaction<T>(work: () => Promise<T>, onCommit?: () => void): Promise<T>;
  /** Something is about to leave the actor that does not wait for an open transaction. */
  leaving(): void;
}

/** All rows of an actor that an older release wrote, as they are brought to the next format. */
export interface UpgradedRows {
  get(key: string): Uint8Array | undefined;
  /** All rows whose key begins with the prefix, in order of their keys' text; later changes do not show in it. */
  list(prefix: string): [key: string, value: Uint8Array][];
  put(key: string, bytes: Uint8Array<ArrayBuffer>): void;
  delete(key: string): void;
}

/** Brings all rows of one storage format to the next; the format in the actor's record is set by whoever runs it. */
export type Upgrade = (rows: UpgradedRows) => void;

/** The one timer in memory that an activation may hold, for the earliest of its deadlines (ALARM-5). */
export interface Timer {
  set(at: number, fire: () => void): void;
  clear(): void;
}

/** The object's end of an admitted WebSocket. It outlives activations, as does what is attached to it. */
export interface Socket {
  /** What was attached last. Goes with the socket; survives hibernation, not the socket's end. */
  readonly attachment: Uint8Array | undefined;
  /** When the client was last answered a ping, which the platform does for the actor, epoch ms; undefined: never. */
  readonly lastPingAt: number | undefined;
  /** At most 16,384 bytes. */
  attach(bytes: Uint8Array<ArrayBuffer>): void;
  /** Never throws: what is sent to a dead socket is lost. Leaves after the commits made so far (COMMIT-2). */
  send(frame: string | Uint8Array<ArrayBuffer>): void;
  /** Never throws, also not for codes and reasons that no close frame may carry. */
  close(code: number, reason: string): void;
}

/** How a connection ended, as far as this side knows: WebSocket close code and reason; 1006 if it was lost. */
export interface ConnectionEnd {
  readonly code: number;
  readonly reason: string;
}

/** How whoever uses a client is told of what it begins: each runs `work`, and gives the promise that the user gets. */
export interface ClientEffects {
  /** A message that nobody waits to be completed: a short acknowledgement. */
  send<T>(work: () => Promise<T>): Promise<T>;
  /** Everything else; `what` names it for people. */
  call<T>(what: string, work: () => Promise<T>): Promise<T>;
}

/** An alarm that the platform delivers. */
export interface DeliveredAlarm {
  /** The time it was set for, epoch ms; null if the platform does not say. */
  readonly scheduledAt: number | null;
  /**
   * Whether it may have been delivered before. In its first run the platform holds it until the run has ended, and
   * delivers it again if the object dies.
   */
  readonly isRetry: boolean;
}

/** An attempt of a step of a workflow, whose callback is about to run. */
export interface StepAttempt extends InterceptedAttempt {
  /** The actor's. */
  readonly name: string;
  readonly key: readonly string[];
  /** The step's location; for a rollback handler, that of the step it undoes. */
  readonly step: InterceptedAttempt["location"];
  /** Whether its callback is the rollback handler of the step. */
  readonly isRollback: boolean;
}

/** User code that runs. */
export interface RunningCode {
  /** Calls the code, or a part of it. */
  call<T>(code: () => T): T;
  /** It has ended, or nobody waits for it any longer. */
  end(): void;
}

/** Follows user code: a clock that is moved by hand may move only while none runs. Attempts of steps are seen elsewhere. */
export interface UserCodeWatch {
  /** Code begins, whose name for people is `what`: `action "add"`. `isEndless`: it is made to end with the actor. */
  begin(what: string, isEndless?: boolean): RunningCode;
  /** The code that runs now waits for a message of its actor, until the promise settles. */
  waits(promise: Promise<unknown>): void;
  /** Nobody waits for the code that runs now, but what it has begun goes on until the promise settles. */
  lingers(promise: Promise<unknown>): void;
  /** What was thrown is masked: the caller gets an error with this id. */
  masked?(errorId: string, thrown: unknown): void;
}

/** What an actor needs from the world around it. */
export interface ActorPorts {
  readonly store: Store;
  readonly log: Logger;
  /** Epoch ms. */
  now(): number;
  createTimer(): Timer;
  /** Lets all other events of the object have their turn. */
  yield(): Promise<void>;
  randomHex(bytes: number): string;
  /** The platform's id of the object, 64 hex digits. */
  readonly objectId: string;
  readonly region: string;
  /** The bindings and variables of the program that the actor runs in, for user code alone. Secrets are among them. */
  readonly env: unknown;
  /** Throws this instance away: what is in memory does not match what is stored (COMMIT-9). */
  abort(reason: string): void;
  /** Keeps the object alive until the promise settles. */
  waitUntil(promise: Promise<unknown>): void;
  /** All connections' sockets of the object that are open, whichever activation admitted them. */
  sockets(): Iterable<Socket>;
  /** Sockets of senders who wait for the reply to a message: those that know it by the token, or all. They are no connections. */
  replySockets(token?: string): Iterable<Socket>;
  /**
   * A client for the same registry, over the binding; `beforeCall` runs before each call leaves and may throw. Its
   * connections end with the first of `ends`. `chain` gives who waits for a call that leaves now, and may throw.
   */
  createClient(
    beforeCall: () => void,
    ends: readonly AbortSignal[],
    effects?: ClientEffects,
    chain?: () => readonly CallLink[],
  ): unknown;
  /**
   * Runs the callback of an attempt, or something in its place, for tests: what it returns or throws counts as the
   * callback's. Without it, callbacks run as they are.
   */
  readonly interceptAttempt?: (attempt: StepAttempt) => unknown;
  /** Follows user code, for tests. */
  readonly userCode?: UserCodeWatch;
  /** Told of each commit of an activation, once it is made. */
  readonly committed?: (batch: Batch) => void;
  /** Whether an activation leaves memory at every park of its workflow, as it may on the platform at any time. */
  readonly evictAtPark?: boolean;
  /** Instead of what this release reads, for tests: an older one. */
  readonly newestFormat?: number;
  /** Instead of the upgrades of this release, for tests: the last one leads to the present format. */
  readonly upgrades?: readonly Upgrade[];
}
