import type { DeliveredAlarm } from "../actor/ports.js";
import type { MemoryStore } from "./memory-store.js";

/** When the platform tries an alarm again whose run has failed, ms after that run; then it drops it (measured). */
const RETRIES_MS = [2_000, 5_000, 10_000, 18_000, 35_000, 68_000];

/** How the platform delivers the alarm of one object: at its time or later, one run at a time, again after a failed run. */
export class AlarmDelivery {
  /** How late alarms come, ms. */
  delayMs = 0;
  /** Alarms that were dropped because none of their runs came to an end. */
  dropped = 0;
  readonly #store: MemoryStore;
  readonly #now: () => number;
  #running = false;
  #failed: { readonly alarm: number; readonly runs: number; readonly retryAt: number } | undefined;

  constructor(store: MemoryStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Epoch ms; null when there is no alarm, or it is being run. */
  get comesAt(): number | null {
    if (this.#store.alarmAt === null || this.#running) return null;
    return Math.max(this.#store.alarmAt + this.delayMs, this.#lastFailure?.retryAt ?? 0);
  }

  /** Of the alarm that stands now: one that was set since is another. */
  get #lastFailure(): { readonly runs: number; readonly retryAt: number } | undefined {
    return this.#failed?.alarm === this.#store.alarmChanges ? this.#failed : undefined;
  }

  /** Runs `alarm()` in the process that is there; `lives` says whether it still is, `died` resolves when it is not. */
  async deliver(
    alarm: (delivered: DeliveredAlarm) => Promise<void>,
    lives: () => boolean,
    died: Promise<void>,
  ): Promise<void> {
    const runs = (this.#lastFailure?.runs ?? 0) + 1;
    const { alarmChanges, alarmAt } = this.#store;
    let ended = false;
    this.#running = true;
    this.#store.beginAlarm();
    const running = alarm({ scheduledAt: alarmAt, isRetry: runs > 1 }).then(
      async () => {
        await this.#store.outputGate();
        if (!lives()) return;
        this.#store.endAlarm();
        ended = true;
      },
      () => undefined,
    );
    await Promise.race([running, died]);
    this.#running = false;
    // A run that failed, or died, before it set another alarm.
    if (!ended && alarmChanges === this.#store.alarmChanges) this.#tryAgain(runs);
  }

  #tryAgain(runs: number): void {
    const delayMs = RETRIES_MS[runs - 1];
    if (delayMs === undefined) {
      this.dropped += 1;
      this.#store.setAlarm(null);
    } else {
      this.#failed = { alarm: this.#store.alarmChanges, runs, retryAt: this.#now() + delayMs };
    }
  }
}
