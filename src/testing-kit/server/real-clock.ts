import { ManualClock } from "../../testing/index.js";

/** The longest delay of a timer of Node. */
const MAX_DELAY_MS = 2_147_483_647;
// Those of the platform, whatever a test puts in their place.
const { clearTimeout, setTimeout } = globalThis;
const now = Date.now.bind(Date);

/** The machine's clock in the place of one that is moved by hand. */
export class RealClock extends ManualClock {
  readonly #timers = new Set<() => void>();

  override now(): number {
    return now();
  }

  override setTimer(at: number, fire: () => void): () => void {
    let handle: ReturnType<typeof setTimeout>;
    const cancel = (): void => {
      clearTimeout(handle);
      this.#timers.delete(cancel);
    };
    const arm = (): void => {
      handle = setTimeout(
        () => {
          if (at > now()) return arm();
          this.#timers.delete(cancel);
          fire();
        },
        Math.min(Math.max(0, at - now()), MAX_DELAY_MS),
      );
    };
    arm();
    this.#timers.add(cancel);
    return cancel;
  }

  override delay(durationMs: number): Promise<void> {
    return new Promise((resolve) => this.setTimer(now() + durationMs, resolve));
  }

  /** Nothing comes any more. */
  stop(): void {
    for (const cancel of this.#timers) cancel();
  }
}
