import type { Timer } from "../actor/index.js";

/** Longest delay that is handed to the platform; the runtime sets the timer again for what is left. */
const MAX_DELAY_MS = 3_600_000;

/** The one timer in memory of a busy object. A parked one has none, so that it can hibernate. */
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
