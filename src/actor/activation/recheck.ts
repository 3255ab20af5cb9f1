import { backoffMs } from "../../protocol/index.js";
import type { RecheckRow } from "../storage/deadlines.js";
import type { ActorActivation } from "./activation.js";

const BACKOFF = { firstMs: 60_000, maxMs: 3_600_000 };

/**
 * The deadline of a workflow that its code cannot run, since it does not match the history or is not there: a deploy that
 * mends it goes on by itself. It stands from the look that found so until the run has gone further.
 */
export class Recheck {
  readonly #activation: ActorActivation;
  /** What stood when the code was looked at: a crash before it has shown anything must not begin the backoff anew. */
  #before: RecheckRow | undefined;

  constructor(activation: ActorActivation) {
    this.#activation = activation;
  }

  get #row(): RecheckRow | undefined {
    return this.#activation.deadlines.recheck.get();
  }

  get isSet(): boolean {
    return this.#row !== undefined;
  }

  /** What was wrong. */
  get message(): string | undefined {
    return this.#row && String(this.#row.message);
  }

  /** It is set, and not due yet. */
  get isAhead(): boolean {
    return (this.#row?.at ?? 0) > this.#activation.ports.now();
  }

  /** The code is about to be looked at. */
  looks(): void {
    this.#before = this.#row;
  }

  /** It cannot run: the next look is twice as far ahead as this one was. True: that is news. */
  set(message: string): boolean {
    const before = this.#before;
    // The row holds the last delay: it tells how many looks came before.
    const looks = before ? Math.log2(before.delayMs / BACKOFF.firstMs) + 1 : 0;
    const delayMs = backoffMs(looks + 1, BACKOFF);
    this.#activation.deadlines.recheck.put({ at: this.#activation.ports.now() + delayMs, delayMs, message });
    return before?.message !== message;
  }

  /** The next look is due now, and the time between looks begins anew. False: none is to come. */
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
