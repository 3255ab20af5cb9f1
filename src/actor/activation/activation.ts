import type { Effects } from "../../protocol/index.js";
import type { StoredMessage } from "../../workflow/index.js";
import type { Callback } from "./callback.js";
import type { Chain } from "./call-chain.js";
import type { CompiledActor } from "../definition/compiled-actor.js";
import type { ConnectionTable } from "./connection-table.js";
import type { Deadlines } from "../storage/deadlines.js";
import type { Lease } from "../storage/lease.js";
import type { ActorQueue, PlainReceivers, SenderWait } from "./actor-queue.js";
import type { ActorPorts, ClientEffects, ListOptions } from "../ports.js";
import type { ActorRecord } from "../storage/record.js";
import type { OpenCallbacks } from "../state/open-callbacks.js";
import type { StateTree } from "../state/state-tree.js";
import type { StateView } from "../state/state-view.js";
import type { Timers } from "./timers.js";
import type { PartMembers } from "./part-members.js";

/** The code that a client is made for. */
export interface ClientUse extends ClientEffects {
  /** Runs before each call is sent. It may throw to refuse the call. */
  guard(): void;
  /** Closes the client's connections when it aborts. */
  readonly end: AbortSignal;
}

/** One activation of an actor, as contexts, calls and the workflow see it. Implemented by `ActorRuntime`. */
export interface ActorActivation {
  readonly actor: CompiledActor;
  readonly ports: ActorPorts;
  readonly timers: Timers;
  readonly record: ActorRecord;
  readonly state: StateTree | undefined;
  /** The user code that is running now. States watch the objects it passes to them. */
  readonly callbacks: OpenCallbacks;
  readonly lease: Lease | undefined;
  readonly queue: ActorQueue;
  readonly receivers: PlainReceivers;
  readonly schedule: { readonly view: object };
  /** The members that parts add: `c.db`, `c.workflow`. */
  readonly parts: PartMembers;
  readonly kv: object;
  readonly connections: ConnectionTable;
  readonly cron: { readonly view: object };
  readonly background: { run(what: string, work: () => unknown): void; waitFor(what: string, promise: unknown): void };
  /** Aborts when the activation is over. Everything that waits in it rejects with the reason. */
  readonly abortSignal: AbortSignal;
  /** The shutdown as user code sees it. When an activation ends on purpose, it aborts before `abortSignal`. */
  readonly shutdown: { readonly signal: AbortSignal; readonly isBegun: boolean };
  /** False while the hooks of the start run. */
  readonly isReady: boolean;
  vars: unknown;

  /** @throws {actor/ended} when the activation is over: changes would be lost */
  checkAlive(): void;
  /** The next value of the actor's one counter. */
  nextSeq(): number;
  /** @throws {actor/state_not_enabled} when the actor has no state */
  stateView(): StateView;
  /** A client that commits dirty changes before each call (COMMIT-2). Its connections close with the activation. */
  client(chain: () => Chain, use?: ClientUse): unknown;

  /**
   * Stores a message and resolves once it is committed. With `wait`, its sender waits for a reply.
   * @throws {queue/full} when the queue is full
   * @throws {queue/message_too_large} when the message is too large
   */
  sendMessage(name: string, body: unknown, wait?: SenderWait): Promise<StoredMessage>;
  /** Adds a prepared message to the dirty set. @throws {queue/full} when the queue is full */
  stageMessage(name: string, body: Uint8Array): StoredMessage;

  /** The value of a key, including uncommitted changes. */
  read(key: string): Uint8Array | undefined;
  /** The rows of a range, including uncommitted changes, at most `limit`. */
  list(prefix: string, options: ListOptions & { readonly limit: number }): [key: string, value: Uint8Array][];
  /** Adds a row to the dirty set. It is encoded when the commit is built. */
  put(key: string, encode: () => Uint8Array<ArrayBuffer>): void;
  delete(key: string): void;
  /** Marks the actor as having rows of this format. Older releases refuse it once that is committed. */
  requireFormat(format: number): void;
  putRecord(change: Partial<ActorRecord>): void;
  /** A stored deadline moved. The next commit recomputes the alarm. */
  deadlinesChanged(): void;
  /** Commits possible changes at the end of the turn. For changes made outside a callback (COMMIT-2). */
  changedSoon(): void;
  /**
   * Calls the code of a callback that commits at its end: what it changes before it returns waits for that commit, unless it
   * goes on after this turn: with a promise that it returns, or with these effects.
   */
  begin(code: () => unknown, effects?: Effects): unknown;
  /** Writes everything dirty and, if a deadline moved, the alarm. Returns false if the activation is lost. */
  commit(): boolean;
  /** As `commit`. @throws {actor/restarting} when the activation is lost */
  commitOrThrow(): void;
  /** Confirms commits that no event waits for (COMMIT-7). */
  confirm(): void;
  /** Resolves when all commits so far are on disk. @throws {actor/restarting} when the activation is lost */
  confirmed(): Promise<void>;

  /** Work that a crash would interrupt has ended or paused. Releases the lease if no other work is running. */
  workChanged(): void;
  holdLease(): void;
  releaseLease(): void;
  /** The last commit added messages to the queue. */
  messagesChanged(): void;
  readonly deadlines: Deadlines;

  /**
   * Destroys the actor when this callback ends, or at the end of the turn if there is none.
   * @throws {actor/starting} when called in a hook of the start
   * @throws {actor/stopping} when the actor is already being destroyed
   */
  requestDestroy(callback?: Callback): void;
  readonly sleep: { ask(): void; rested(): void };
  /** Runs `onStateChange`. */
  readonly stateChanges: { callbackEnded(): void; committed(): void };
  /** An action, a hook or an attempt of a step has ended. */
  callbackEnded(callback: Callback): void;
}
