/**
 * A world of actors in one process: each with its own store, one manual clock, and crashes where a test wants them.
 * What happens when is decided by the clock and the test alone, never by real time.
 */
import type { Registry } from "../actor/index.js";
import { objectName, own } from "../protocol/index.js";
import { ManualClock } from "./manual-clock.js";
import { WorldActor, type Surroundings, type WorldOptions } from "./world-actor.js";

/** Turns after which an actor that can move by itself has moved. */
const TURNS_TO_SETTLE = 6;
/** Turns after which an alarm whose run has not ended waits for the clock. */
const TURNS_OF_AN_ALARM = 60;
/** So often no event comes back at one instant, unless it sets itself off. */
const ROUNDS_OF_ONE_INSTANT = 1_000;

export class World implements Surroundings {
  readonly clock: ManualClock;
  readonly options: WorldOptions;
  #registry: Registry;
  readonly #actors = new Map<string, WorldActor>();
  readonly #byId = new Map<string, WorldActor>();

  constructor(registry: Registry, options: WorldOptions) {
    this.#registry = registry;
    this.options = own(options);
    this.clock = this.options.clock ?? new ManualClock();
    this.#warn();
  }

  get registry(): Registry {
    return this.#registry;
  }

  /** Other code from now on: every process ends, and what comes next starts with this registry. */
  deploy(registry: Registry): void {
    this.#registry = registry;
    for (const actor of this.actors) actor.crash();
    this.#warn();
  }

  #warn(): void {
    for (const warning of this.#registry.warnings) this.options.onLog?.("warn", warning);
  }

  get actors(): WorldActor[] {
    return [...this.#actors.values()];
  }

  /** The object with this id, if anybody has asked for it. */
  object(objectId: string): WorldActor | undefined {
    return this.#byId.get(objectId);
  }

  /** The object behind a key, whether an actor lives there or not. */
  actor(name: string, key: readonly string[] = []): WorldActor {
    const id = objectName(name, key);
    let found = this.#actors.get(id);
    if (!found) {
      found = new WorldActor(this, name, key, this.#actors.size);
      this.#actors.set(id, found);
      this.#byId.set(found.objectId, found);
    }
    return found;
  }

  /** Lets everything happen that needs no time to pass. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < TURNS_TO_SETTLE; turn += 1) {
      await this.turn();
      for (let fired = 0; this.clock.fireNext(); fired += 1) {
        if (fired > ROUNDS_OF_ONE_INSTANT) throw standsStill();
        await this.turn();
      }
      for (const actor of this.actors) if (actor.alarmIsDue) await this.#begun(actor.fireAlarm());
      for (
        let turns = 0;
        turns < TURNS_TO_SETTLE && this.actors.some((actor) => actor.store.transactionsEnd());
        turns += 1
      )
        await this.turn();
    }
  }

  /** Awaits an alarm's run, but not one that itself waits for time to pass (for `onDestroy`, say). */
  async #begun(running: Promise<void>): Promise<void> {
    let ended = false;
    void running.then(() => (ended = true));
    for (let turn = 0; turn < TURNS_OF_AN_ALARM && !ended; turn += 1) await this.turn();
  }

  /** Lets time pass, with every timer and alarm in its order. */
  async pass(durationMs: number): Promise<void> {
    const end = this.clock.now() + durationMs;
    await this.settle();
    await this.#passEvents(end);
    this.clock.moveTo(Math.max(this.clock.now(), end));
    await this.settle();
  }

  /** Lets time pass until nothing is to come any more, or the limit. */
  async passUntilQuiet(limitMs = 10 * 365 * 24 * 3_600_000): Promise<void> {
    const end = this.clock.now() + limitMs;
    await this.settle();
    await this.#passEvents(end);
  }

  async #passEvents(end: number): Promise<void> {
    let rounds = 0;
    for (let next = this.nextEventAt; next !== undefined && next <= end; next = this.nextEventAt) {
      rounds = next > this.clock.now() ? 0 : rounds + 1;
      if (rounds > ROUNDS_OF_ONE_INSTANT) throw standsStill();
      this.clock.moveTo(Math.max(this.clock.now(), next));
      await this.settle();
    }
  }

  turn(): Promise<void> {
    return new Promise((resolve) => this.options.nextTurn(resolve));
  }

  /** When the next timer fires or the next alarm comes, epoch ms. */
  get nextEventAt(): number | undefined {
    const times = [this.clock.nextTimerAt(), ...this.actors.map((actor) => actor.alarmComesAt)];
    const earliest = times.reduce<number>((first, at) => Math.min(first, at ?? Infinity), Infinity);
    return earliest === Infinity ? undefined : earliest;
  }
}

function standsStill(): Error {
  return new Error("A timer or an alarm sets itself off again and again, and time stands still");
}
