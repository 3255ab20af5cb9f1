import type { Timer } from "../actor/index.js";

/** The longest delay of a platform timer; the runtime sets the timer again for the rest. */
const MAX_DELAY_MS = 3_600_000;

/** The one in-memory timer of a busy object. A parked object has none, so that it can hibernate. */
export class ObjectTimer implements Timer {
  #handle: ReturnType<typeof setTimeout> | undefined;

  set(at: number, fire: () => void): void {
    this.clear();
    this.#handle = setTimeout(
      () => {
        this.#handle = undefined;
        fire();
      },
      Math.min(Math.max(0, at - Date.now()), MAX_DELAY_MS),
    );
  }

  clear(): void {
    if (this.#handle !== undefined) clearTimeout(this.#handle);
    this.#handle = undefined;
  }
}
