/**
 * When an actor goes to sleep (ALARM-11). How it goes is in shutdown.ts.
 *
 * Owns: how many are being served, since when nothing is done, the idle deadline, what `c.sleep()` asked for.
 * Rules:
 *  1. Only an actor with `onSleep` has the deadline. The commit that leaves it idle writes it; activity does not move it: if
 *     it comes too early it is set again for what is left, and if it comes while something works it goes.
 *  2. Whoever is served or works keeps the actor awake; being connected, waiting for a message or a stored time does not,
 *     but for raw sockets that cannot hibernate.
 *  3. An alarm that comes for nothing else starts the actor only to let it sleep: `run` and the workflow do not begin.
 */
import { ActorError } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { Deadlines, IdleRow } from "../storage/deadlines.js";

/** So often in a row `onSleep` may be cut off. */
const MAX_TRIES = 3;

/** What it asks of its actor beside what every part does. */
export interface SleepingActor extends ActorActivation {
  /** Something of it works, be it the run handler. */
  readonly isWorking: boolean;
  /** Something of it works that a sleep must not cut off. */
  readonly isOccupied: boolean;
  readonly connections: ActorActivation["connections"] & { readonly bound: readonly unknown[] };
  readonly wakes: { isDue(now: number, beside?: Deadlines["idle"]): boolean; releaseLease(): void };
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

  /** `begin`: the actor is to go to sleep now. */
  constructor(activation: SleepingActor, begin: () => void) {
    this.#activation = activation;
    this.#begin = begin;
  }

  /** The start is over. */
  ready(): void {
    this.#isReady = true;
  }

  /** True for a start that nothing but the idle deadline has asked for. */
  get isOnlyForSleep(): boolean {
    return this.#isOnlyForSleep;
  }

  /** Serves somebody; the actor is awake meanwhile. */
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
   * `c.sleep()`: as soon as nobody is served and nothing but the run handler works, `sleepGracePeriod` from now at the
   * latest.
   * @throws actor/starting
   */
  ask(): void {
    if (!this.#isReady) throw new ActorError("actor", "starting", "The actor has not started yet");
    if (!this.#isAsked) this.#beginAtLast();
    this.#isAsked = true;
    this.#beginSoon();
  }

  /** Something has ended: if that was the last of it, the actor is idle from now on. */
  rested(): void {
    if (this.#isOver) return;
    this.#activeAt = this.#activation.ports.now();
    if (this.#isAsked) return this.#beginIfFree();
    if (this.#armIfIdle()) this.#activation.commit();
  }

  /** A commit stores something. `isActivity`: not the deadline alone. */
  beforeCommit(isActivity: boolean): void {
    if (this.#isOver || !isActivity) return;
    this.#activeAt = this.#activation.ports.now();
    if (this.#isAsked) this.#beginSoon();
    else this.#armIfIdle();
  }

  /**
   * The alarm came, at `now`. True: the actor is to go to sleep, and nothing else is to be done. Otherwise the deadline, if
   * it is due, has moved, and joins the dirty set.
   */
  alarmCame(now: number): boolean {
    const row = this.#row;
    if (!row || row.at > now) return false;
    const quietAt = Math.min(this.#activeAt, now) + this.#timeoutMs;
    if (!this.#mayBeIdle || !this.#isIdle) this.#activation.deadlines.idle.delete();
    else if (quietAt > now) this.#move(row, quietAt);
    else if (this.#activation.wakes.isDue(now, this.#activation.deadlines.idle)) this.#move(row, now + this.#timeoutMs);
    else return true;
    return false;
  }

  /**
   * A start begins, at `now`; `isAlone`: by an alarm after which nothing was left to take up. Then it may be only for sleep;
   * otherwise a deadline that is due moves, or goes, and joins the dirty set.
   */
  startBegins(now: number, isAlone: boolean): void {
    const row = this.#row;
    if (!row || row.at > now) return;
    if (row.tries >= MAX_TRIES) {
      this.#activation.ports.log.error({
        msg: `onSleep was cut off ${MAX_TRIES} times in a row by a crash or reset of its object; it is given up`,
      });
      this.#isGivenUp = true;
    }
    if (!this.#mayBeIdle) this.#activation.deadlines.idle.delete();
    else if (!isAlone || this.#activation.wakes.isDue(now, this.#activation.deadlines.idle))
      this.#move(row, now + this.#timeoutMs);
    else this.#isOnlyForSleep = true;
  }

  /** It begins: that `onSleep` was begun, and the lease that guards it, join the dirty set. */
  begun(): void {
    if (!this.#activation.actor.config.onSleep) return;
    this.#move(this.#row, this.#activation.ports.now(), 1);
    this.#activation.holdLease();
  }

  /** Messages were stored. Of those that come while the actor goes to sleep nobody is told: the lease brings it back for them. */
  messagesCame(): void {
    if (this.#activation.shutdown.isBegun) this.#isAwaited = this.#activation.actor.hasRun;
  }

  /** It is over. */
  done(): void {
    this.#activation.deadlines.idle.delete();
    if (this.#isAwaited) this.#activation.holdLease();
    else this.#activation.wakes.releaseLease();
  }

  get #row(): IdleRow | undefined {
    return this.#activation.deadlines.idle.get();
  }

  #move(row: IdleRow | undefined, at: number, more = 0): void {
    this.#activation.deadlines.idle.put({ at, tries: (row?.tries ?? 0) + more });
  }

  #armIfIdle(): boolean {
    if (!this.#isReady || this.#row || !this.#mayBeIdle || !this.#isIdle) return false;
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

  get #isIdle(): boolean {
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

  /** Those who are served and what works have so long to end. */
  #beginAtLast(): void {
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
