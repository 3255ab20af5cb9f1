/**
 * The commits of one activation, and its end.
 *
 * Owns: when a commit is made and what it writes, whether the activation is lost. Does not own: the rows (stored-rows.ts),
 * the alarm (alarm.ts), who takes part in a commit (actor-runtime.ts).
 * Invariants:
 *  1. Every stored change goes through `commit`, which writes everything dirty and the alarm together (COMMIT-1).
 *  2. Once a commit has thrown, this activation makes no further changes (COMMIT-9).
 */
import { ActorError, isThenable, own, ownField, type Effects } from "../../protocol/index.js";
import type { ActorPorts, StoreActivation } from "../ports.js";
import { describe } from "../activation/thrown.js";
import { LeaseTimer, type Timers } from "../activation/timers.js";
import type { OpenCallbacks } from "../state/open-callbacks.js";
import type { StateTree } from "../state/state-tree.js";
import type { Alarm } from "../storage/alarm.js";
import type { DirtySet } from "../storage/dirty-set.js";
import { KEYS } from "../storage/record.js";
import { lossOf, restarting } from "../storage/store-errors.js";
import type { Parts } from "./parts.js";
import type { ShutdownSignal } from "./shutdown-signal.js";

/** The activation as its commits see it: what they write, and who is told of them. */
export interface CommittedActor {
  readonly store: StoreActivation;
  readonly alarm: Alarm;
  readonly ports: Pick<ActorPorts, "abort" | "committed" | "log" | "waitUntil" | "yield">;
  readonly timers: Timers;
  readonly state: StateTree | undefined;
  readonly callbacks: OpenCallbacks;
  readonly connections: { beforeCommit(): void; beforeWrite(): void };
  readonly parts: Pick<Parts, "idle" | "tell">;
  readonly queue: { committed(): void };
  readonly sleep: { beforeCommit(isActivity: boolean): void };
  readonly stateChanges: { committed(): void };
  readonly shutdown: ShutdownSignal;
}

export class Commits {
  readonly #actor: CommittedActor;
  readonly #dirty: DirtySet;
  readonly #leaseTimer: LeaseTimer;
  readonly #abort = new AbortController();
  #isOpen = false;
  #lost: Error | undefined;
  #flush: Promise<void> | undefined;
  readonly #tell: ActorPorts["committed"];
  /** Callbacks in their first turn. */
  #beginning = 0;
  #hasChanged = false;

  constructor(actor: CommittedActor, dirty: DirtySet) {
    this.#actor = actor;
    this.#dirty = dirty;
    this.#tell = ownField(actor.ports, "committed");
    this.#leaseTimer = new LeaseTimer(actor.timers, () => this.#extendLease());
  }

  // ---- held and open -----------------------------------------------------------------------------------------------

  /** Whether commits are written. If not, they wait. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  open(): void {
    this.#isOpen = true;
  }

  hold(): void {
    this.#isOpen = false;
  }

  /** Drops the rows that wait for a commit. */
  discard(): void {
    this.#dirty.clear();
    this.#isOpen = true;
  }

  // ---- commit ------------------------------------------------------------------------------------------------------

  /** Writes everything dirty and, if a deadline moved, the alarm. Returns false if the activation is lost. */
  commit(): boolean {
    const { store, state, connections, alarm, parts } = this.#actor;
    if (this.#lost) return false;
    if (!store.isCurrent) {
      this.lose("a later activation has begun");
      return false;
    }
    if (!this.#isOpen) return true;
    let stateBytes: Uint8Array<ArrayBuffer> | undefined;
    try {
      stateBytes = state?.encodeChanges();
      connections.beforeCommit();
    } catch (error) {
      this.#logUnstorable(error);
      this.lose(error);
      return false;
    }
    // A released lease alone needs no write, but a commit that is made anyway may record it.
    const { isReleased } = alarm;
    if (stateBytes || !this.#dirty.isEmpty || isReleased) {
      parts.tell("beforeCommit");
      connections.beforeWrite();
      const isActivity = stateBytes !== undefined || isReleased || this.#dirty.hasOther(alarm.deadlines.idle.key);
      this.#actor.sleep.beforeCommit(isActivity);
    }
    let alarmAt: number | null | undefined;
    let isWritten: boolean;
    try {
      // This may read the workflow's history, which may be damaged.
      alarmAt = alarm.alarmToWrite();
      isWritten = stateBytes !== undefined || !this.#dirty.isEmpty || alarmAt !== undefined;
      if (isWritten) {
        const { puts, deletes } = this.#dirty.build();
        if (stateBytes) puts.set(KEYS.state, stateBytes);
        const batch = own(alarmAt === undefined ? { puts, deletes } : { puts, deletes, alarmAt });
        store.commit(batch);
        this.#tell?.(batch);
      }
    } catch (error) {
      this.lose(error);
      return false;
    }
    if (isWritten) {
      this.#dirty.clear();
      state?.committed(stateBytes);
      // Code that commits before it returns goes on: what it changes next is stored before the hook hears of this.
      if (this.#hasChanged) this.#flushSoon();
      if (stateBytes) this.#actor.stateChanges.committed();
    }
    alarm.committed(alarmAt);
    this.#actor.queue.committed();
    this.#leaseTimer.set(alarm.extendAt);
    if (isWritten) parts.tell("committed");
    return true;
  }

  /** For use before anything leaves the actor (COMMIT-2). */
  commitOrThrow(): void {
    this.#actor.parts.tell("leaving");
    if (!this.commit()) throw this.#lost ?? restarting();
  }

  /** Commits a change that no callback will commit, at the end of the turn (COMMIT-2). */
  changedSoon(): void {
    if (!this.#isOpen || this.#flush) return;
    if (this.#beginning > 0) this.#hasChanged = true;
    else this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#flush) return;
    const { ports, parts } = this.#actor;
    // A commit would undo an open transaction of user code. Nobody waits for this one, so the transaction may end first.
    this.#flush = ports
      .yield()
      .then(() => parts.idle())
      .then(() => {
        this.#flush = undefined;
        this.commit();
      });
    ports.waitUntil(this.#flush);
  }

  /**
   * Calls the code of a callback whose end commits. If it ends in the same turn, its changes need no other commit; if it
   * returns a promise, or has begun effects that go on, they are committed at the end of the turn.
   */
  begin(code: () => unknown, effects?: Effects): unknown {
    this.#beginning += 1;
    let goesOn = false;
    try {
      const returned = code();
      goesOn = isThenable(returned);
      return returned;
    } finally {
      this.#beginning -= 1;
      if (this.#beginning === 0) {
        const hasChanged = this.#hasChanged && (goesOn || effects?.isOpen === true);
        this.#hasChanged = false;
        if (hasChanged) this.changedSoon();
      }
    }
  }

  async confirmed(): Promise<void> {
    try {
      await this.#actor.store.sync();
    } catch (error) {
      this.lose(error);
    }
    if (this.#lost) throw this.#lost;
  }

  confirm(): void {
    const { ports, store } = this.#actor;
    ports.waitUntil(store.sync().catch((error: unknown) => this.lose(error)));
  }

  #extendLease(): void {
    this.#actor.alarm.extendLease();
    this.commit();
    this.confirm();
  }

  // ---- end ---------------------------------------------------------------------------------------------------------

  /** Why the activation is over, if it is. */
  get lost(): Error | undefined {
    return this.#lost;
  }

  /** Aborts when the activation is over. */
  get abortSignal(): AbortSignal {
    return this.#abort.signal;
  }

  /**
   * Memory and storage differ: this activation must stop acting, and the instance is aborted (COMMIT-9). If the
   * storage is full, or damaged, the instance stays, so that callers get the error and the actor can still be read.
   */
  lose(cause: unknown): void {
    if (this.#lost) return;
    const { ports } = this.#actor;
    const { reason, stays } = lossOf(cause);
    this.end(reason);
    ports.log.error({ msg: "The activation is lost; the next event starts anew", stack: describe(cause) });
    if (!stays) ports.abort("perdure: a commit failed, memory and storage differ");
  }

  /** Ends the activation: it is lost, asleep, or its actor is destroyed. */
  end(reason: Error): void {
    if (this.#lost) return;
    this.#lost = reason;
    this.#actor.timers.clear();
    this.#actor.parts.tell("end", reason);
    this.#actor.shutdown.over(reason);
    this.#abort.abort(reason);
  }

  /** Logs a state without an encoding. Every statement was checked, so user code must have changed it past its views. */
  #logUnstorable(error: unknown): void {
    const path = ActorError.isActorError(error) ? error.metadata : undefined;
    const callbacks = this.#actor.callbacks.suspects();
    const msg =
      "The state cannot be stored: it was changed through a reference to an object that had been put into it. " +
      "The actor restarts from what is stored";
    this.#actor.ports.log.error({
      msg,
      stack: describe(error),
      ...(path === undefined ? {} : { metadata: path }),
      callbacks,
    });
  }
}
