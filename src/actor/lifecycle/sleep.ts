/**
 * Decides when an actor goes to sleep (ALARM-11). The sleep itself is in shutdown.ts.
 *
 * Owns: the number of calls in progress, the time of the last activity, the idle deadline, requests by `c.sleep()`.
 * Rules:
 *  1. Only an actor with `onSleep` has an idle deadline. The commit that leaves the actor idle writes it. Activity does not
 *     move it: when it is due too early it is set again, and when it is due during work it is deleted.
 *  2. Calls and work keep the actor awake. Connections, waits for messages and stored deadlines do not, except raw sockets
 *     that cannot hibernate.
 *  3. An alarm for the idle deadline alone starts the actor only to let it sleep: `run` and the workflow do not begin.
 */
import { ActorError } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { Deadlines, IdleRow } from "../storage/deadlines.js";

/** How often in a row `onSleep` may be interrupted by a crash. */
const MAX_TRIES = 3;

/** What sleep needs from its actor. */
export interface SleepingActor extends Pick<
  ActorActivation,
  "abortSignal" | "actor" | "commit" | "deadlines" | "holdLease" | "lease" | "ports" | "shutdown" | "timers"
> {
  /** Whether anything works, including the run handler. */
  readonly isWorking: boolean;
  /** Whether anything works that a sleep must not interrupt. */
  readonly isOccupied: boolean;
  readonly connections: { readonly bound: readonly unknown[] };
  readonly parkEviction: { soon(): void };
  readonly alarm: { isDue(now: number, beside?: Deadlines["idle"]): boolean; releaseLease(): void };
}

export class Sleep {
  readonly #activation: SleepingActor;
  readonly #begin: () => void;
  #served = 0;
  #isReady = false;
  #isAsked = false;
  #isGivenUp = false;
  #isOnlyForSleep = false;
  #isAwaited = false;
  #activeAt = Number.NEGATIVE_INFINITY;

  /** `begin` puts the actor to sleep now. */
  constructor(activation: SleepingActor, begin: () => void) {
    this.#activation = activation;
    this.#begin = begin;
  }

  /** The start is over. */
  ready(): void {
    this.#isReady = true;
  }

  /** True for a start that only the idle deadline has caused. */
  get isOnlyForSleep(): boolean {
    return this.#isOnlyForSleep;
  }

  /** Keeps the actor awake while `serve` runs. */
  async during<T>(serve: () => T | Promise<T>): Promise<T> {
    this.#served += 1;
    this.#activeAt = this.#activation.ports.now();
    try {
      return await serve();
    } finally {
      this.#served -= 1;
      this.rested();
    }
  }

  /**
   * `c.sleep()`: sleeps once no call is in progress and only the run handler works, after `sleepGracePeriod` at the latest.
   * @throws {actor/starting} when called in a hook of the start
   */
  ask(): void {
    if (!this.#isReady) throw new ActorError("actor", "starting", "The actor has not started yet");
    if (!this.#isAsked) this.#beginAtLatest();
    this.#isAsked = true;
    this.#beginSoon();
  }

  /** A call or work has ended. The actor may be idle now. */
  rested(): void {
    if (this.#isOver) return;
    this.#activation.parkEviction.soon();
    this.#activeAt = this.#activation.ports.now();
    if (this.#isAsked) return this.#beginIfFree();
    if (this.#armIfIdle()) this.#activation.commit();
  }

  /** A commit is about to write. `isActivity`: it writes more than the idle deadline. */
  beforeCommit(isActivity: boolean): void {
    if (this.#isOver || !isActivity) return;
    this.#activeAt = this.#activation.ports.now();
    if (this.#isAsked) this.#beginSoon();
    else this.#armIfIdle();
  }

  /**
   * The alarm came, at `now`. Returns true if the actor must go to sleep and nothing else is due. Otherwise an idle deadline
   * that is due moves or is deleted, in the dirty set.
   */
  alarmCame(now: number): boolean {
    const row = this.#row;
    if (!row || row.at > now) return false;
    const quietAt = Math.min(this.#activeAt, now) + this.#timeoutMs;
    if (!this.#mayBeIdle || !this.isIdle) this.#activation.deadlines.idle.delete();
    else if (quietAt > now) this.#move(row, quietAt);
    else if (this.#activation.alarm.isDue(now, this.#activation.deadlines.idle)) this.#move(row, now + this.#timeoutMs);
    else return true;
    return false;
  }

  /**
   * A start begins, at `now`. `isAlone`: it was caused by an alarm, and no crash came before it. Such a start may be only for
   * sleep. Otherwise an idle deadline that is due moves or is deleted, in the dirty set.
   */
  startBegins(now: number, isAlone: boolean): void {
    const row = this.#row;
    if (!row || row.at > now) return;
    if (row.tries >= MAX_TRIES) {
      this.#activation.ports.log.error({
        msg: `onSleep was interrupted ${MAX_TRIES} times in a row by a crash or reset of its object; it is given up`,
      });
      this.#isGivenUp = true;
    }
    if (!this.#mayBeIdle) this.#activation.deadlines.idle.delete();
    else if (!isAlone || this.#activation.alarm.isDue(now, this.#activation.deadlines.idle))
      this.#move(row, now + this.#timeoutMs);
    else this.#isOnlyForSleep = true;
  }

  /** The sleep begins. Adds the count of `onSleep` and the lease that guards it to the dirty set. */
  begun(): void {
    if (!this.#activation.actor.config.onSleep) return;
    this.#move(this.#row, this.#activation.ports.now(), 1);
    this.#activation.holdLease();
  }

  /** Messages were stored. If that happens during the shutdown, the lease brings the actor back for them. */
  messagesCame(): void {
    if (this.#activation.shutdown.isBegun) this.#isAwaited = this.#activation.actor.hasRun;
  }

  /** The sleep is complete. */
  done(): void {
    this.#activation.deadlines.idle.delete();
    if (this.#isAwaited) this.#activation.holdLease();
    else this.#activation.alarm.releaseLease();
  }

  get #row(): IdleRow | undefined {
    return this.#activation.deadlines.idle.get();
  }

  #move(row: IdleRow | undefined, at: number, more = 0): void {
    this.#activation.deadlines.idle.put({ at, tries: (row?.tries ?? 0) + more });
  }

  #armIfIdle(): boolean {
    if (!this.#isReady || this.#row || !this.#mayBeIdle || !this.isIdle) return false;
    this.#move(undefined, this.#activation.ports.now() + this.#timeoutMs);
    return true;
  }

  get #timeoutMs(): number {
    return this.#activation.actor.options.sleepTimeout;
  }

  get #mayBeIdle(): boolean {
    const { config, options } = this.#activation.actor;
    return (
      config.onSleep !== undefined && !options.noSleep && Number.isFinite(options.sleepTimeout) && !this.#isGivenUp
    );
  }

  /** Whether nothing of the actor is in progress that keeps it awake. */
  get isIdle(): boolean {
    return (
      this.#served === 0 &&
      !this.#activation.isWorking &&
      !this.#activation.lease &&
      this.#activation.connections.bound.length === 0
    );
  }

  get #isOver(): boolean {
    return this.#activation.shutdown.isBegun || this.#activation.abortSignal.aborted;
  }

  /** Sleeps after `sleepGracePeriod`, even if calls or work are still in progress. */
  #beginAtLatest(): void {
    const { timers, ports, actor } = this.#activation;
    const fire = (): void => {
      if (!this.#isOver) this.#begin();
    };
    timers.add({ at: ports.now() + actor.options.sleepGracePeriod, fire });
  }

  #beginSoon(): void {
    const { ports } = this.#activation;
    ports.waitUntil(ports.yield().then(() => this.#beginIfFree()));
  }

  #beginIfFree(): void {
    if (!this.#isOver && this.#served === 0 && !this.#activation.isOccupied) this.#begin();
  }
}
