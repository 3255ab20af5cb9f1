import { decodeValue, encodeValue } from "../protocol/index.js";
import type { ActorActivation, Callback } from "./activation.js";
import { CallbackContext, READY } from "./context.js";
import { callHook } from "./hook.js";
import { KEYS } from "./record.js";

/**
 * Events that the workflow's `onError` is told of (decision 14).
 *
 * Invariants: that an event is due is stored by the commit that records its failure; the hook's changes and the mark
 * that it was told are one commit. So each event is told at least once, exactly once without a crash, and never again.
 */
export class FailureReports {
  readonly #activation: ActorActivation;
  readonly #due = new Map<number, unknown>();
  #telling = false;

  constructor(activation: ActorActivation, rows: Iterable<readonly [string, Uint8Array]>) {
    this.#activation = activation;
    for (const [key, bytes] of rows) this.#due.set(Number(key.slice(KEYS.failures.length)), decodeValue(bytes));
  }

  /** The highest counter value in use. */
  get highestSeq(): number {
    return Math.max(0, ...this.#due.keys());
  }

  /** The event joins the dirty set; it is told once that is committed. Called inside a turn of the run. */
  add(event: unknown): void {
    if (!this.#activation.actor.workflow?.onError) return;
    const seq = this.#activation.nextSeq();
    const bytes = encodeValue(event, { what: "failure event" });
    this.#due.set(seq, decodeValue(bytes));
    this.#activation.put(KEYS.failure(seq), () => bytes);
    this.tellDue();
  }

  /** Tells what is due, one event at a time. The lease is in the dirty set when this returns. */
  tellDue(): void {
    const onError = this.#activation.actor.workflow?.onError;
    if (this.#telling || this.#due.size === 0 || !onError) return;
    this.#telling = true;
    this.#activation.background.run("onError", async () => {
      // The commit of the turn that recorded the failure comes first.
      await this.#activation.ports.yield();
      for (const [seq, event] of this.#due) {
        if (!this.#activation.commit()) return;
        await this.#tell(onError, event);
        this.#due.delete(seq);
        this.#activation.delete(KEYS.failure(seq));
        if (!this.#activation.commit()) return;
      }
      this.#telling = false;
    });
  }

  async #tell(onError: unknown, event: unknown): Promise<void> {
    const { actor, ports } = this.#activation;
    const callback: Callback = {};
    try {
      await callHook(
        this.#activation,
        "onError",
        onError,
        (stage) => new CallbackContext(this.#activation, stage, { isRunHandler: true, callback }),
        READY,
        actor.options.actionTimeout,
        [event],
      );
    } catch (error) {
      ports.log.error({ msg: "onError failed; the workflow's outcome is not affected", error: String(error) });
    } finally {
      this.#activation.callbackEnded(callback);
    }
  }
}
