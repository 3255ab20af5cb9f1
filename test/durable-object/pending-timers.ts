// Counts the timers of the isolate, which the objects share with the tests: all that would keep an object from
// hibernating and that code can hold without a promise of its own.
const pending = new Set<unknown>();
const { setTimeout: set, clearTimeout: clear, setInterval: setRepeated, clearInterval: clearRepeated } = globalThis;

Object.assign(globalThis, {
  setTimeout: (run: (...args: unknown[]) => void, delayMs?: number, ...args: unknown[]): unknown => {
    const handle: unknown = set(() => {
      pending.delete(handle);
      run(...args);
    }, delayMs);
    pending.add(handle);
    return handle;
  },
  clearTimeout: (handle: never): void => {
    pending.delete(handle);
    clear(handle);
  },
  setInterval: (run: (...args: unknown[]) => void, delayMs?: number, ...args: unknown[]): unknown => {
    const handle: unknown = setRepeated(run, delayMs, ...args);
    pending.add(handle);
    return handle;
  },
  clearInterval: (handle: never): void => {
    pending.delete(handle);
    clearRepeated(handle);
  },
});

/** Timers that were set since this module was loaded and have neither fired nor been cleared. */
export function pendingTimers(): number {
  return pending.size;
}
