import type { Place } from "./place.js";

/** `setTimeout` or `setInterval`, of which code whose process has ended hears nothing. Time in it is real. */
export function livingTimers<Timers extends typeof setTimeout | typeof setInterval>(
  real: Timers,
  currentPlace: () => Place | undefined,
): Timers {
  const set = (callback: unknown, ...rest: unknown[]): unknown => {
    const process = currentPlace()?.process;
    const fire = (...args: unknown[]): void => {
      if (process?.isAlive()) Reflect.apply(callback as () => void, undefined, args);
    };
    const fired = process && typeof callback === "function" ? fire : callback;
    return Reflect.apply(real, undefined, [fired].concat(rest));
  };
  // With what `util.promisify` asks for.
  return Object.defineProperties(set, Object.getOwnPropertyDescriptors(real)) as unknown as Timers;
}
