import type { ActorPorts, Timer } from "../../actor/index.js";
import { holdsLease } from "../../testing/index.js";
import { toldCommits } from "./told-commits.js";

/** The clock of one object and the timers on it, and whether it is at work. Outlives the object's evictions and deaths. */
export class ObjectTime {
  /** By how much the clock is ahead of the machine's, ms. */
  #aheadMs = 0;
  #timers = new Set<MovedTimer>();
  #isAwake = false;
  #changed: (() => void)[] = [];

  now(): number {
    return Date.now() + this.#aheadMs;
  }

  /** What the platform does for an object in memory, by this clock. Timers of an earlier one are gone with it, and who waited in it. */
  portsOf(ports: ActorPorts): ActorPorts {
    this.#timers = new Set();
    const timers = this.#timers;
    this.#changed = [];
    this.#isAwake = false;
    return {
      ...ports,
      now: () => this.now(),
      createTimer: () => {
        const timer = new MovedTimer(ports.createTimer(), () => this.#aheadMs);
        timers.add(timer);
        return timer;
      },
      store: toldCommits(
        ports.store,
        () => this.changed(),
        () => (this.#isAwake = true),
      ),
    };
  }

  /** Whether an event has reached the object since it came into memory: before, nothing of the actor runs. */
  get isAwake(): boolean {
    return this.#isAwake;
  }

  /** The earliest timer in memory, epoch ms of this clock. */
  get nextTimerAt(): number | undefined {
    return [...this.#timers].reduce<number | undefined>(
      (first, { at }) => (at === undefined || (first !== undefined && first <= at) ? first : at),
      undefined,
    );
  }

  /** Moves the clock forward to a time, and fires the timers that are due. Runs inside the object. */
  moveTo(at: number): void {
    this.#aheadMs += Math.max(0, at - this.now());
    for (const timer of this.#timers) timer.moved(this.now());
  }

  /** Something happened after which the object may be at rest. */
  changed(): void {
    for (const tell of this.#changed.splice(0)) tell();
  }

  /** Resolves when the object has no work left that it would resume after a crash, or `isStill`. Runs inside the object. */
  async atRest({ storage }: DurableObjectState, isStill: () => boolean): Promise<void> {
    for (;;) {
      const change = new Promise<void>((resolve) => this.#changed.push(resolve));
      const rows = new Map(storage.kv.list<Uint8Array>());
      if (isStill() || !holdsLease(rows, await storage.getAlarm(), this.now())) return;
      await change;
    }
  }
}

class MovedTimer implements Timer {
  readonly #timer: Timer;
  readonly #aheadMs: () => number;
  #set: { readonly at: number; readonly fire: () => void } | undefined;

  constructor(timer: Timer, aheadMs: () => number) {
    this.#timer = timer;
    this.#aheadMs = aheadMs;
  }

  get at(): number | undefined {
    return this.#set?.at;
  }

  set(at: number, fire: () => void): void {
    this.#set = { at, fire };
    this.#timer.set(at - this.#aheadMs(), () => {
      this.#set = undefined;
      fire();
    });
  }

  clear(): void {
    this.#set = undefined;
    this.#timer.clear();
  }

  /** The clock has moved, to `now`. */
  moved(now: number): void {
    const set = this.#set;
    if (!set) return;
    this.clear();
    if (set.at <= now) set.fire();
    else this.set(set.at, set.fire);
  }
}
