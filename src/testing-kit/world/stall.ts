import { unfollowed } from "./real-work.js";

const { setTimeout, clearTimeout } = globalThis;

/** How long nothing may move before it is told, in ms of real time. */
const STALLED_MS = 2_000;

/** Tells once that something takes long, unless it is over before. */
export class Stall {
  readonly #timer: ReturnType<typeof setTimeout>;

  constructor(tell: () => void) {
    this.#timer = unfollowed(() => setTimeout(tell, STALLED_MS));
    // It keeps no process alive. In Node it is an object.
    (this.#timer as { unref?(): void }).unref?.();
  }

  over(): void {
    clearTimeout(this.#timer);
  }
}
