import { AsyncLocalStorage } from "node:async_hooks";
import type { WorldActor } from "../../testing/index.js";

/** Code that runs, as what it does is counted. */
export interface CountedCode {
  /** It waits for something of the world's own until the promise settles. */
  waits(promise: PromiseLike<unknown>): void;
  /** After its end it may still do real work, until the promise settles. */
  lingers(promise: PromiseLike<unknown>): void;
  /** A timer, or a read of a file, has begun or ended in it. */
  countRealWork(by: 1 | -1): void;
}

/** Which code runs. */
export interface Current {
  /** The actor whose code it is; undefined for a call of the test. */
  readonly actor: WorldActor | undefined;
  /** Its callback; undefined between callbacks. */
  readonly code: CountedCode | undefined;
}

/** The code that runs now, kept over every await; none outside of worlds. */
export const CURRENT = new AsyncLocalStorage<Current>();
