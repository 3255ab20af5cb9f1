/**
 * Parts: capabilities that bring their code. What a definition is given carries one (`workflow()`, `db()`), so that a Worker
 * has the code of what it imports and of nothing else: the actor runtime knows this interface, and no part.
 */
import type { DeclaredPart } from "../definition/part-carrier.js";
import type { MessagePort, StoredMessage } from "../../workflow/index.js";
import type { SqlDatabase } from "../ports.js";
import type { ActorRecord } from "../storage/record.js";
import type { ActorActivation } from "./activation.js";
import type { ActorQueue } from "./actor-queue.js";
import type { StepUse, TakenMessage } from "./part-members.js";

/** A part, for all actors that have it. */
export interface Part extends DeclaredPart {
  /** What the record of an actor that is created with the part says of it: work that its first start begins. */
  readonly record?: Pick<ActorRecord, "workflow">;
  /**
   * True for an actor that an earlier deploy has left something of the part: it has the part as long as any actor of its
   * registry brings it, though its own definition does no more.
   */
  serves?(record: ActorRecord): boolean;
  /** Joins an activation, before anything of it runs; writes nothing. `carrier`: what brought it; undefined if it only `serves`. */
  join(actor: PartActor, carrier: object | undefined): ActivePart;
}

/** One part in one activation. It has what it needs of this. */
export interface ActivePart {
  /** Members of the contexts of actions and hooks: each is made when user code asks for it. */
  readonly members?: Readonly<Record<string, () => unknown>>;
  /** Members of the contexts of a workflow's steps. */
  readonly stepMembers?: Readonly<Record<string, (step: StepUse) => unknown>>;

  /** The highest value of the actor's counter that its rows carry. Rows of its own are below `KEYS.part(name)`. */
  readonly highestSeq?: number;
  /** Counts what user code has stored through it: a step's attempt that has is not free of effects. */
  readonly writes?: number;
  /** Messages that it takes from the actor's queue. */
  readonly messages?: MessageTaker;
  /** How it stores together with a start what the dirty set does not hold. */
  readonly start?: StartedPart;

  /** The earliest deadline that it keeps in rows of its own, epoch ms; infinite: a wake as late as can be. */
  wakeAt?(): number | undefined;
  /** True while it works: the lease is held. It calls `workChanged` when that changes. */
  readonly isBusy?: boolean;

  /** An actor that exists is loaded: what it puts is in the start's first commit. */
  load?(): void;
  /** The actor serves, and the lease is committed: its work begins. `careful`: an earlier activation was cut off. */
  begin?(careful: boolean): void;
  /** After a start, and at each alarm: what is due of `deadlines.parts` under its name. */
  fireDue?(): void;
  /** Moves what is due, as far as that goes without waiting, and then calls `settle`. The lease is committed. */
  advance?(): Promise<void>;
  /** A commit is about to be built: what belongs to it joins the dirty set. */
  beforeCommit?(): void;
  /** A commit was made. */
  committed?(): void;
  /** Something is about to leave the actor. */
  leaving?(): void;
  /** Resolves when a commit that nobody waits for would disturb nothing; undefined if that is so already. */
  idle?(): Promise<void> | undefined;

  /** True if whoever waits in all of these attempts of steps can receive nothing. */
  waitsIn?(steps: ReadonlySet<string>): boolean;
  /** Answers an operation of its own from the wire. Its changes are committed before the answer is given. */
  answer?(body: Uint8Array): Promise<Uint8Array | undefined>;

  /** The actor goes to sleep. */
  suspend?(): void;
  /** The actor is destroyed: this joins the commit that marks it. */
  destroyed?(): void;
  /** The activation is over, for whatever reason: nothing of it acts any more. */
  end?(reason: Error): void;
}

/** A part that takes messages, before those of actions and the run handler do. */
export interface MessageTaker {
  /** Messages join the dirty set: if it may take them, a crash must not leave it asleep. */
  expect(): void;
  /** Messages were committed. True: it may want them, so it takes them soon, and calls `settle`. */
  offer(): boolean;
  /** What it has taken of the queue, by the rows that are stored. */
  taken(): Iterable<TakenMessage>;
}

/** A part whose data is in the actor's storage, but in no row: a start that fails must undo that, too. */
export interface StartedPart {
  /** It has something to bring up to date at each start. */
  readonly hasMigration: boolean;
  /** Brings that up to date. */
  migrate(): Promise<void>;
  /** Makes ready what the members give; undefined if that takes no time. */
  open(): Promise<void> | undefined;
  /**
   * Runs a start up to its commit, in at most that time: all is stored, or nothing is. `name`: the hook that is blamed.
   * @throws actor/callback_timed_out, and what `work` throws
   */
  together<T>(name: string, timeoutMs: number, work: () => Promise<T>): Promise<T>;
}

/** What a part gets of the actor that it joins. */
export interface PartActor extends ActorActivation {
  readonly queue: ActorQueue & MessagePort & HeldMessages;
  /** Something of the actor works. */
  readonly isWorking: boolean;
  /** Why the activation is over, if it is: no user code may begin in it, nor once it ends. */
  readonly lost: Error | undefined;
  /** The database of the store, if it has one. */
  readonly sql: SqlDatabase | undefined;
  /** The rows below a prefix as they are stored, a few at a time. */
  storedRows(prefix: string): Iterable<readonly [key: string, bytes: Uint8Array]>;
  /** The same at once: for rows that stay in memory anyway. */
  allStored(prefix: string): Iterable<readonly [key: string, bytes: Uint8Array]>;
  /** Nothing is left to do: others get the messages that are left, the lease goes unless something works, and all is committed. */
  settle(): void;
  /** Lets all parts advance; the object stays until that is done. */
  advanceSoon(): void;
  /** The activation cannot go on. */
  lose(cause: unknown): void;
}

/** The queue, for who holds messages of it. */
interface HeldMessages {
  /** @throws queue/full unless these bodies may be stored as well */
  checkRoom(bodies: readonly Uint8Array[]): void;
  /** All that is held is visible again. */
  releaseHeld(): void;
  /** What is still there of these is held again. */
  holdAgain(messages: readonly StoredMessage[]): void;
  /** True once after messages have joined or come back with changes that a commit has written by now. */
  takeStaged(): boolean;
}
