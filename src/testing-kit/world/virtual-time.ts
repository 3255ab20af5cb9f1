/**
 * The time of a world: when it may move, and how far.
 *
 * Owns: the clock's moves. Does not own: which code runs (running-code.ts), what is due (the simulation).
 * Invariants:
 *  1. The clock moves only when no user code runs, no turn of a store is open, and nothing is due: all of it is counted.
 *     One empty turn of the event loop ends the microtasks that what was counted has left behind.
 *  2. One thing moves it at a time.
 */
import process from "node:process";
import type { World } from "../../testing/index.js";
import { unfollowed } from "./real-work.js";
import { Stall } from "./stall.js";

const { setImmediate } = globalThis;
/** So often something may be due at one instant, unless it sets itself off. */
const ROUNDS_OF_ONE_INSTANT = 100_000;

/** The user code of the world, as its time needs it. */
export interface Runs {
  readonly isAny: boolean;
  describe(): string[];
}

export class VirtualTime {
  readonly #world: World;
  readonly #code: Runs;
  readonly #skips: boolean;
  #turns = 0;
  #calls = 0;
  #movers = 0;
  #isSkipping = false;
  #moves: Promise<unknown> = Promise.resolve();
  /** Says what it waited for. */
  #ended: Error | undefined;
  #wake: () => void = () => {};
  #change: Promise<void> | undefined;
  #instant = { at: 0, rounds: 0 };

  /** `skips`: time moves by itself while a call waits. */
  constructor(world: World, code: Runs, skips: boolean) {
    this.#world = world;
    this.#code = code;
    this.#skips = skips;
    world.clock.onSet = () => this.changed();
  }

  /** Something has begun or ended that time waits for. */
  changed(): void {
    this.#change = undefined;
    this.#wake();
  }

  /** The next turn of the event loop, for the stores: time stands until it is over. */
  nextTurn(run: () => void): void {
    this.#turns += 1;
    this.changed();
    unfollowed(() =>
      setImmediate(() => {
        this.#turns -= 1;
        run();
        this.changed();
      }),
    );
  }

  /** While the call waits, time may skip. */
  during<T>(call: Promise<T>): Promise<T> {
    this.#calls += 1;
    this.changed();
    void this.#skip();
    const ended = (): void => {
      this.#calls -= 1;
      this.changed();
    };
    call.then(ended, ended);
    return call;
  }

  idle(): Promise<void> {
    return this.#move("world.idle()", () => this.#quiet("world.idle()", () => undefined));
  }

  /** Lets so many ms pass. */
  advance(durationMs: number, what: string): Promise<void> {
    return this.#move(what, async () => {
      const { clock } = this.#world;
      const start = clock.now() - clock.jumped;
      const goOn = (): boolean => {
        const next = this.#world.nextEventAt;
        const end = start + durationMs + clock.jumped;
        if (clock.now() >= end && (next === undefined || next > end)) return false;
        this.#moveTo(Math.min(next ?? end, end));
        return true;
      };
      while (await this.#quiet(what, goOn));
    });
  }

  /** Lets time pass until the promise settles. */
  async until<T>(given: PromiseLike<T>): Promise<T> {
    const promise = Promise.resolve(given);
    let isSettled = false;
    const settled = (): void => {
      isSettled = true;
      this.changed();
    };
    promise.then(settled, settled);
    const what = "world.until()";
    await this.#move(what, async () => {
      while (!isSettled) {
        const hasMoved = await this.#quiet(what, () => isSettled || this.#moveToNext());
        if (!hasMoved) await this.#nextChange(what);
      }
    });
    return promise;
  }

  /** Whatever waits for time is told that the world has ended. */
  end(): void {
    this.#ended = new Error(this.#waitsFor());
    this.changed();
  }

  /** One move after the other; the skipping of time rests meanwhile. */
  #move<T>(what: string, move: () => Promise<T>): Promise<T> {
    this.#movers += 1;
    const moved = this.#moves.then(move);
    this.#moves = moved
      .catch(() => {})
      .then(() => {
        this.#movers -= 1;
        this.changed();
      });
    return moved.catch((error: unknown) => {
      if (!this.#ended || error !== this.#ended) throw error;
      throw new Error(`This world has ended while ${what} waited. ${this.#ended.message}`, { cause: error });
    });
  }

  async #skip(): Promise<void> {
    if (this.#isSkipping) return;
    this.#isSkipping = true;
    const what = "A call of the test";
    try {
      while (this.#calls > 0) {
        const rests = (): boolean => this.#calls === 0 || this.#movers > 0;
        const goesOn =
          this.#movers === 0 && (await this.#quiet(what, () => rests() || (this.#skips && this.#moveToNext()), rests));
        if (!goesOn || this.#movers > 0) await this.#nextChange(this.#movers === 0 ? what : undefined);
      }
    } catch (error) {
      if (error !== this.#ended) throw error;
    } finally {
      this.#isSkipping = false;
    }
  }

  /** Resolves when nothing runs and nothing is due, with what `then` gives at that moment; sooner if `rests`. */
  async #quiet<T>(what: string, then: () => T, rests: () => boolean = () => false): Promise<T> {
    for (;;) {
      await new Promise<void>((resolve) => unfollowed(() => setImmediate(resolve)));
      if (this.#ended) throw this.#ended;
      if (rests()) return then();
      if (this.#turns > 0) continue;
      if (this.#code.isAny) await this.#nextChange(what);
      else if (!this.#fireDue()) return then();
    }
  }

  #fireDue(): boolean {
    const { clock, actors } = this.#world;
    let hasFired = false;
    for (let due = clock.pendingTimers; due > 0 && clock.fireNext(); due -= 1) hasFired = true;
    for (const actor of actors) {
      if (!actor.alarmIsDue) continue;
      hasFired = true;
      void actor.fireAlarm();
    }
    if (hasFired) this.#countRound();
    return hasFired;
  }

  #countRound(): void {
    const at = this.#world.clock.now();
    this.#instant = { at, rounds: this.#instant.at === at ? this.#instant.rounds + 1 : 0 };
    if (this.#instant.rounds < ROUNDS_OF_ONE_INSTANT) return;
    throw new Error("A timer or an alarm sets itself off again and again, and the world's time stands still");
  }

  #moveToNext(): boolean {
    const next = this.#world.nextEventAt;
    if (next === undefined) return false;
    this.#moveTo(next);
    return true;
  }

  #moveTo(at: number): void {
    const { clock } = this.#world;
    clock.moveTo(Math.max(clock.now(), at));
  }

  /** Resolves when something begins or ends; tells after two seconds what it waits for, if it is given a name. */
  async #nextChange(what: string | undefined): Promise<void> {
    this.#change ??= new Promise((resolve) => (this.#wake = resolve));
    const stall = what === undefined ? undefined : new Stall(() => this.#tell(what));
    try {
      await this.#change;
    } finally {
      stall?.over();
    }
    if (this.#ended) throw this.#ended;
  }

  #tell(what: string): void {
    process.emitWarning(`${what} waits. ${this.#waitsFor()}`, "PerdureTestingWarning");
  }

  #waitsFor(): string {
    const running = this.#code.describe();
    if (running.length > 0) return `Time stands still because this code still runs: ${running.join("; ")}`;
    const next = this.#world.nextEventAt;
    if (next === undefined) return "Nothing of the world runs, and nothing is to come";
    return `Nothing of the world runs before ${new Date(next).toISOString()}, and time does not skip by itself`;
  }
}
