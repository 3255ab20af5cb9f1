import { backoffMs } from "../../protocol/index.js";
import type { RecheckRow } from "../storage/deadlines.js";
import type { ActorActivation } from "./activation.js";

/** What a re-check needs from its actor. */
type RecheckHost = Pick<ActorActivation, "deadlines" | "ports">;

const BACKOFF = { firstMs: 60_000, maxMs: 3_600_000 };

/**
 * The deadline at which a workflow whose code is missing, or does not match its history, is tried again, so that it goes on
 * by itself after a deploy that fixes it. It is set by the check that failed, until the run has gone further.
 */
export class Recheck {
  readonly #activation: RecheckHost;
  /** The row before the current check: a crash during the check must not restart the backoff. */
  #before: RecheckRow | undefined;

  constructor(activation: RecheckHost) {
    this.#activation = activation;
  }

  get #row(): RecheckRow | undefined {
    return this.#activation.deadlines.recheck.get();
  }

  get isSet(): boolean {
    return this.#row !== undefined;
  }

  /** Why the last check failed. */
  get message(): string | undefined {
    return this.#row && String(this.#row.message);
  }

  /** Whether it is set and not due yet. */
  get isAhead(): boolean {
    return (this.#row?.at ?? 0) > this.#activation.ports.now();
  }

  /** A check is about to begin. */
  looks(): void {
    this.#before = this.#row;
  }

  /** The check failed. Doubles the delay to the next one. Returns true if the message is new. */
  set(message: string): boolean {
    const before = this.#before;
    // The number of checks so far follows from the stored delay.
    const looks = before ? Math.log2(before.delayMs / BACKOFF.firstMs) + 1 : 0;
    const delayMs = backoffMs(looks + 1, BACKOFF);
    this.#activation.deadlines.recheck.put({ at: this.#activation.ports.now() + delayMs, delayMs, message });
    return before?.message !== message;
  }

  /** Makes the next check due now and restarts the backoff. Returns false if none is set. */
  hurry(): boolean {
    const row = this.#row;
    if (!row) return false;
    this.#activation.deadlines.recheck.put({ ...row, at: this.#activation.ports.now(), delayMs: BACKOFF.firstMs / 2 });
    return true;
  }

  clear(): void {
    this.#activation.deadlines.recheck.delete();
  }
}
