import { checkTime, readDuration } from "./duration.js";
import type { WorldHost } from "./world-host.js";

export interface WorldClock {
  /** The world's time, epoch ms. */
  now(): number;
  /**
   * Lets time pass, with every alarm, timeout and retry in its order; it stands while code runs.
   *
   * @example
   *     await world.advance("3 days"); // or "90s", "1h 30m", or milliseconds
   * @throws TypeError when it is no duration, a negative one, or leads beyond what a Date can hold
   */
  advance(duration: number | string): Promise<void>;
  /** Resolves when nothing runs and nothing is due: only time, or a call, can move anything on. */
  idle(): Promise<void>;
  /**
   * Lets time pass until the promise settles, and gives what it settles with.
   *
   * @example
   *     const reply = order.send("approvals", { by: "ada" }, { wait: true });
   *     await world.until(reply);
   */
  until<T>(promise: PromiseLike<T>): Promise<T>;
}

export function clockOf(host: WorldHost): WorldClock {
  return {
    now: () => host.world.clock.now(),
    advance: async (duration) => {
      host.checkOpen("advance");
      const durationMs = readDuration("world.advance()", duration);
      checkTime("world.advance()", host.world.clock.now() + durationMs);
      await host.clock.advance(durationMs, `world.advance(${JSON.stringify(duration)})`);
    },
    idle: async () => {
      host.checkOpen("idle");
      await host.clock.idle();
    },
    until: async (promise) => {
      host.checkOpen("until");
      return host.clock.until(promise);
    },
  };
}
