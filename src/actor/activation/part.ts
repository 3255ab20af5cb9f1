/**
 * Parts: features that bring their own code. Members of a definition carry them (`workflow()`, `db()`), so that a Worker
 * contains only the code it imports. The runtime knows this interface, but no part.
 */
import type { DeclaredPart } from "../definition/part-carrier.js";
import type { MessagePort, StoredMessage } from "../../workflow/index.js";
import type { WorkflowHistoryEntry, WorkflowHistoryOptions, WorkflowParkedOn } from "../api/workflow-status.js";
import type { SqlDatabase } from "../ports.js";
import type { ActorRecord } from "../storage/record.js";
import type { ActorActivation } from "./activation.js";
import type { ActorQueue } from "./actor-queue.js";
import type { StepUse, TakenMessage } from "./part-members.js";

/** A part, shared by all actors that have it. */
export interface Part extends DeclaredPart {
  /** Fields for the record of an actor with this part that is created now, epoch ms. */
  record?(now: number): Pick<ActorRecord, "workflow">;
  /**
   * Whether an earlier deploy left data of the part in this actor. The actor then keeps the part while any actor of its
   * registry carries it, even if its own definition no longer does.
   */
  serves?(record: ActorRecord): boolean;
  /**
   * What its stored rows say, for people: `rows` gives those below a key. For an actor that need not be able to start.
   * @throws {storage/corrupt} when a row cannot be read
   */
  inspect?(
    record: ActorRecord,
    rows: (prefix: string) => Iterable<readonly [key: string, bytes: Uint8Array]>,
  ): StoredWorkflow;
  /** Joins an activation before it runs. Writes nothing. `carrier` is undefined if the part only `serves`. */
  join(actor: PartActor, carrier: object | undefined): ActivePart;
}

/** A workflow as it is stored. */
export interface StoredWorkflow {
  /** Entries in the order in which their operations began. */
  history(options?: WorkflowHistoryOptions): WorkflowHistoryEntry[];
  /** What a workflow that is not in memory waits for. `isWorking`: work was cut off or is due; `now`: epoch ms. */
  parkedOn(isWorking: boolean, now: number): WorkflowParkedOn | undefined;
}

/** A part in one activation. All members are optional. */
export interface ActivePart {
  /** Members of the contexts of actions and hooks. Each is called when user code reads it. */
  readonly members?: Readonly<Record<string, () => unknown>>;
  /** Members of the contexts of a workflow's steps. */
  readonly stepMembers?: Readonly<Record<string, (step: StepUse) => unknown>>;

  /** The highest counter value in its rows, which may be read for this. Its own rows are below `KEYS.part(name)`. */
  readonly highestSeq?: number;
  /** Counts the writes of user code through it: an attempt of a step with writes has side effects. */
  readonly writes?: number;
  /** Takes messages from the actor's queue. */
  readonly messages?: MessageTaker;
  /** Stores data outside the dirty set atomically with a start. */
  readonly start?: StartedPart;

  /** The earliest deadline in its own rows, epoch ms. Infinity asks for the latest possible alarm. */
  wakeAt?(): number | undefined;
  /** True while it works, which holds the lease. It must call `workChanged` when this changes. */
  readonly isBusy?: boolean;

  /** An existing actor is being loaded. Rows put here are in the start's first commit. */
  load?(): void;
  /** The actor serves and the lease is committed: begins its work. `careful`: an earlier activation crashed. */
  begin?(careful: boolean): void;
  /** Runs what is due of its `deadlines.parts`, after a start and at each alarm. */
  fireDue?(): void;
  /** Settles what is due, as far as possible without waiting, then calls `settle`. The lease is committed. */
  advance?(): Promise<void>;
  /** A commit is about to be built. Adds rows to the dirty set. */
  beforeCommit?(): void;
  /** A commit was made. */
  committed?(): void;
  /** Something is about to leave the actor. */
  leaving?(): void;
  /** Resolves when a commit that nobody waits for would not disturb it. Undefined if that is the case now. */
  idle?(): Promise<void> | undefined;

  /** Whether all that could receive a message waits in these attempts of steps. */
  waitsIn?(steps: ReadonlySet<string>): boolean;
  /** Answers an operation of the part. Its changes are committed before the answer leaves. */
  answer?(body: Uint8Array): Promise<Uint8Array | undefined>;

  /** The actor goes to sleep. */
  suspend?(): void;
  /** The actor is being destroyed. Changes join the commit that marks it. */
  destroyed?(): void;
  /** The activation is over, for any reason. */
  end?(reason: Error): void;
}

/** Takes messages before actions and the run handler do. */
export interface MessageTaker {
  /** A message was added to the dirty set. Returns true if it has taken it, and made the commit that records that. */
  take(): boolean;
  /** Messages were added to the dirty set. If it may take them, it must ensure a wake after a crash. */
  expect(): void;
  /** Messages were committed. Returns true if it will try to take them and then call `settle`. */
  offer(): boolean;
  /** The messages it has taken from the queue, as stored. */
  taken(): Iterable<TakenMessage>;
}

/** A part with data outside the actor's rows, which a failed start must undo as well. */
export interface StartedPart {
  /** Whether it has a migration, which runs at each start. */
  readonly hasMigration: boolean;
  /** Runs the migration. */
  migrate(): Promise<void>;
  /** Prepares its members. Undefined if they are ready. */
  open(): Promise<void> | undefined;
  /**
   * Runs a start up to its commit: everything is stored, or nothing. `name` is the hook named in a timeout's error.
   * @throws {actor/callback_timed_out} when it takes longer than `timeoutMs`; whatever `work` throws
   */
  together<T>(name: string, timeoutMs: number, work: () => Promise<T>): Promise<T>;
}

/** The actor as its parts see it. */
export interface PartActor extends ActorActivation {
  readonly queue: ActorQueue & MessagePort & HeldMessages;
  /** Whether anything of the actor works. */
  readonly isWorking: boolean;
  /** False once a later activation has begun. */
  readonly isCurrent: boolean;
  /** Why the activation is over, if it is. Then no user code may begin. */
  readonly lost: Error | undefined;
  /** The store's SQL database, if it has one. */
  readonly sql: SqlDatabase | undefined;
  /** The stored rows below a prefix, read a few at a time. */
  storedRows(prefix: string): Iterable<readonly [key: string, bytes: Uint8Array]>;
  /** The same, all at once, for rows that stay in memory anyway. */
  allStored(prefix: string): Iterable<readonly [key: string, bytes: Uint8Array]>;
  /** The part is done for now: offers remaining messages to others, releases the lease unless something works, and commits. */
  settle(): void;
  /** Lets all parts advance, and keeps the object in memory meanwhile. */
  advanceSoon(): void;
  /** Ends an activation that cannot go on. */
  lose(cause: unknown): void;
}

/** The queue, for a part that holds messages of it. */
interface HeldMessages {
  /** @throws {queue/full} when these bodies do not fit in the queue */
  checkRoom(bodies: readonly Uint8Array[]): void;
  /** The same, also before the actor has started. */
  requireRoom(bodies: readonly Uint8Array[]): void;
  /** Deletes a message that nobody holds. Returns false if there is none with this id. */
  remove(id: number): boolean;
  /** Makes all held messages visible again. */
  releaseHeld(): void;
  /** Holds those of the messages that still exist. */
  holdAgain(messages: readonly StoredMessage[]): void;
  /** Returns true once after a commit has written messages that joined or came back. */
  takeStaged(): boolean;
}
