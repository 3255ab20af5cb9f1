import type { History } from "../workflow/index.js";
import type { CompiledActor } from "./compile.js";
import type { Lease } from "./lease.js";
import type { LiveState, StateView } from "./live-state.js";
import type { ActorPorts } from "./ports.js";
import type { ActorRecord } from "./record.js";
import type { Timers } from "./timers.js";

/** A deadline that no entry carries: a row of the table `d/`. */
export interface DeadlineRow {
  /** Epoch ms. */
  readonly at: number;
  readonly [field: string]: unknown;
}

/** One activation of an actor as its parts see it: contexts, calls, the workflow. `ActorRuntime` is the one that exists. */
export interface ActorActivation {
  readonly actor: CompiledActor;
  readonly ports: ActorPorts;
  readonly timers: Timers;
  readonly history: History;
  readonly record: ActorRecord;
  readonly state: LiveState | undefined;
  readonly lease: Lease | undefined;
  /** Aborted when the activation is over. */
  readonly abortSignal: AbortSignal;
  vars: unknown;

  /** The next value of the actor's one counter. */
  nextSeq(): number;
  /** @throws actor/state_not_enabled */
  stateView(): StateView;
  /** A client whose calls leave only after what is dirty has been committed (C1); `guard` may refuse a call. */
  client(guard?: () => void): unknown;
  save(immediate: boolean): Promise<void>;

  /** A row joins the dirty set; it is encoded when the commit is built. */
  put(key: string, encode: () => Uint8Array<ArrayBuffer>): void;
  delete(key: string): void;
  putRecord(change: Partial<ActorRecord>): void;
  /** A stored deadline moved: the next commit looks at the alarm again. */
  deadlinesChanged(): void;
  /** Writes all that is dirty and, when a deadline moved, the alarm. False: the activation is lost. */
  commit(): boolean;
  /** @throws actor/restarting */
  commitOrThrow(): void;
  /** Confirms what was committed with no event waiting for it (C7). */
  confirm(): void;

  holdLease(): void;
  releaseLease(): void;
  setDeadline(id: string, row: DeadlineRow): void;
  clearDeadline(id: string): void;
  deadline(id: string): DeadlineRow | undefined;
}
