import { backoffMs } from "../../protocol/index.js";
import type { ActorPorts } from "../ports.js";
import { KEYS } from "../storage/record.js";

/** Backoff of starts that fail in an alarm, when no stored deadline says when to try again. */
const RETRY = { firstMs: 10_000, maxMs: 300_000 };

/** Alarms for starts that failed. */
export class StartRetries {
  readonly #ports: ActorPorts;
  /** Failed starts in a row. */
  #failed = 0;

  constructor(ports: ActorPorts) {
    this.#ports = ports;
  }

  /** A start has succeeded. */
  begun(): void {
    this.#failed = 0;
  }

  /** Sets an alarm to retry a failed start. Throws if the storage fails; then the platform retries the alarm. */
  async setAlarm(): Promise<void> {
    const store = this.#ports.store.activate();
    if (store.get(KEYS.actor) === undefined || (await store.getAlarm()) !== null) return;
    const alarmAt = this.#ports.now() + backoffMs(this.#failed + 1, RETRY);
    store.commit({ puts: new Map(), deletes: new Set(), alarmAt });
    this.#failed += 1;
    await store.sync();
  }
}
