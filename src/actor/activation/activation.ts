import type { History, StoredMessage } from "../../workflow/index.js";
import type { Callback } from "./callback.js";
import type { Chain } from "./call-chain.js";
import type { CompiledActor } from "../definition/compiled-actor.js";
import type { ConnectionTable } from "./connection-table.js";
import type { ActorDatabase } from "../api/database-types.js";
import type { Deadlines } from "../storage/deadlines.js";
import type { Lease } from "../storage/lease.js";
import type { ActorQueue, PlainReceivers, SenderWait } from "./actor-queue.js";
import type { ActorPorts, ClientEffects, ListOptions } from "../ports.js";
import type { ActorRecord } from "../storage/record.js";
import type { OpenCallbacks } from "../state/open-callbacks.js";
import type { StateTree } from "../state/state-tree.js";
import type { StateView } from "../state/state-view.js";
import type { Timers } from "./timers.js";
import type { WorkflowBranches } from "./workflow-branches.js";

/** For whom a client is made. */
export interface ClientUse extends ClientEffects {
  /** Runs before each call leaves, and may refuse it. */
  guard(): void;
  /** Its connections end with it, too. */
  readonly end: AbortSignal;
}

/** One activation of an actor as its parts see it: contexts, calls, the workflow. `ActorRuntime` is the one that exists. */
export interface ActorActivation {
  readonly actor: CompiledActor;
  readonly ports: ActorPorts;
  readonly timers: Timers;
  readonly history: History;
  readonly record: ActorRecord;
  readonly state: StateTree | undefined;
  /** User code that runs, for the states that it may hand objects in to. */
  readonly callbacks: OpenCallbacks;
  readonly lease: Lease | undefined;
  readonly queue: ActorQueue;
  readonly receivers: PlainReceivers;
  readonly schedule: { readonly view: object };
  /** Undefined if the actor has none configured. */
  readonly database: ActorDatabase | undefined;
  readonly kv: object;
  readonly connections: ConnectionTable;
  readonly cron: { readonly view: object };
  readonly control: object;
  readonly workflowBranches: WorkflowBranches;
  readonly background: { run(what: string, work: () => unknown): void; waitFor(what: string, promise: unknown): void };
  /** Aborted when the activation is over: whatever waits in it rejects with the reason. */
  readonly abortSignal: AbortSignal;
  /** The end of the activation as user code sees it: begins before that, if the activation ends on purpose. */
  readonly shutdown: { readonly signal: AbortSignal; readonly isBegun: boolean };
  /** False while hooks of the start run. */
  readonly isReady: boolean;
  vars: unknown;

  /** @throws actor/ended once the activation is over: what its code changes would be lost */
  checkAlive(): void;
  /** The next value of the actor's one counter. */
  nextSeq(): number;
  /** @throws actor/state_not_enabled */
  stateView(): StateView;
  /** A client whose calls leave only after what is dirty has been committed (COMMIT-2). Its connections end with the activation. */
  client(chain: () => Chain, use?: ClientUse): unknown;

  /**
   * Stores a message and resolves once it is committed; `wait`: its sender waits for a reply.
   * @throws queue/full, queue/message_too_large
   */
  sendMessage(name: string, body: unknown, wait?: SenderWait): Promise<StoredMessage>;
  /** A prepared message joins the dirty set. @throws queue/full */
  stageMessage(name: string, body: Uint8Array): void;

  /** What is stored under a key, or will be with the next commit. */
  read(key: string): Uint8Array | undefined;
  /** The same for the keys of a range, at most `limit`. */
  list(prefix: string, options: ListOptions & { readonly limit: number }): [key: string, value: Uint8Array][];
  /** A row joins the dirty set; it is encoded when the commit is built. */
  put(key: string, encode: () => Uint8Array<ArrayBuffer>): void;
  delete(key: string): void;
  /** Rows of this format join the dirty set; releases that do not know it refuse the actor from their commit on. */
  requireFormat(format: number): void;
  putRecord(change: Partial<ActorRecord>): void;
  /** A stored deadline moved: the next commit looks at the alarm again. */
  deadlinesChanged(): void;
  /** Something changed outside of any callback's end, maybe: it is committed at the end of the turn (COMMIT-2). */
  changedSoon(): void;
  /** Writes all that is dirty and, when a deadline moved, the alarm. False: the activation is lost. */
  commit(): boolean;
  /** @throws actor/restarting */
  commitOrThrow(): void;
  /** Confirms what was committed with no event waiting for it (COMMIT-7). */
  confirm(): void;
  /** Resolves when all commits so far would survive a kill at this instruction. @throws actor/restarting */
  confirmed(): Promise<void>;

  /** Begun work that a crash would interrupt has ended or paused: the lease goes with the next commit if nothing else works. */
  workChanged(): void;
  holdLease(): void;
  releaseLease(): void;
  /** Messages joined the queue with the last commit. */
  messagesChanged(): void;
  readonly deadlines: Deadlines;

  /**
   * The actor ends once this callback has ended; without one, once the turn has.
   * @throws actor/starting in a hook of the start, actor/stopping the second time
   */
  requestDestroy(callback?: Callback): void;
  readonly sleep: { ask(): void; rested(): void };
  /** Told of every change of the state (`onStateChange`). */
  readonly stateChanges: { callbackEnded(): void };
  /** An action, a hook or an attempt has ended. */
  callbackEnded(callback: Callback): void;
}
