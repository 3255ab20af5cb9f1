import type { SetTimer } from "./connection-calls.js";

/** The time and randomness a connection needs. */
export interface ConnectionPorts {
  /** Epoch ms. */
  now(): number;
  readonly setTimer: SetTimer;
  /** At least 0 and below 1. */
  random(): number;
}

/** The longest delay of a timer; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const REAL_PORTS: ConnectionPorts = {
  now: () => Date.now(),
  setTimer(ms, action, mayEnd = false) {
    let timer: unknown;
    const wait = (leftMs: number): void => {
      const next = Math.min(leftMs, MAX_TIMER_MS);
      timer = setTimeout(() => (leftMs > next ? wait(leftMs - next) : action()), next);
      // In Node it is an object.
      if (mayEnd) (timer as { unref?(): void }).unref?.();
    };
    wait(ms);
    return () => clearTimeout(timer as Parameters<typeof clearTimeout>[0]);
  },
  random: () => Math.random(),
};
