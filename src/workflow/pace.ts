import { OPERATIONS_AT_MOST, OPERATIONS_PER_YIELD } from "./limits.js";
import type { WorkflowPorts } from "./ports.js";

/** Between two yields there are as many operations as take a time between these, in ms. */
const SHORT_MS = 5;
const LONG_MS = 10;
/**
 * Fewer than at first are made at a time only where these took as long as this. (A busy machine would else be a reason, and
 * more yields make it no faster.) A turn also ends after this time, where the clock shows it.
 */
const TOO_LONG_MS = 100;
/** A time is our own if it is so many times that of a yield with nothing of ours in it. */
const OURS = 3;
/** The clock stands still while code runs if it did so in as many turns. */
const STILL_TURNS = 4;

/**
 * How many operations a run makes before it lets other events in (FLOW-12). A yield ends the turn, and with it one write to
 * the disk for all of its commits, so cheap operations make many; operations that compute for long make few.
 *
 * On Cloudflare the clock stands still while code runs: the time of a turn shows only once its yield is over. A long one may
 * be that of a busy machine, so a second yield shows how much of it was. Elsewhere the clock shows the turn's own time.
 */
export class Pace {
  readonly #ports: Pick<WorkflowPorts, "now" | "yield">;
  #limit = OPERATIONS_PER_YIELD;
  /** Operations since other events last had their turn, and when the first of them was over, epoch ms. */
  #operations = 0;
  #since = 0;
  #turns = 0;
  /** Turns in which the clock stood still, up to the last. */
  #still = STILL_TURNS;
  #yielding: Promise<void> | undefined;

  constructor(ports: Pick<WorkflowPorts, "now" | "yield">) {
    this.#ports = ports;
  }

  /** Counts an operation. True: it is time for `yield`. */
  count(): boolean {
    this.#operations += 1;
    if (this.#operations === 1) this.#begin();
    return this.#operations >= this.#limit || this.#ports.now() - this.#since >= TOO_LONG_MS;
  }

  /** Resolves when other events have had their turn. */
  yield(): Promise<void> {
    return (this.#yielding ??= this.#yield().finally(() => (this.#yielding = undefined)));
  }

  /** Operations that wait for something, a step's request say, let other events in: what comes then is another turn. */
  #begin(): void {
    this.#since = this.#ports.now();
    if (this.#limit === 1) return;
    const turns = this.#turns;
    void this.#ports.yield().then(() => {
      if (turns === this.#turns) this.#operations = 0;
    });
  }

  async #yield(): Promise<void> {
    this.#turns += 1;
    const endedAt = this.#ports.now();
    const shownMs = endedAt - this.#since;
    this.#still = shownMs > 0 ? 0 : this.#still + 1;
    await this.#ports.yield();
    if (this.#still < STILL_TURNS) this.#took(shownMs);
    else await this.#tookWithYield(this.#ports.now() - this.#since);
    this.#operations = 0;
  }

  async #tookWithYield(ms: number): Promise<void> {
    if (ms <= LONG_MS) return this.#took(ms);
    const before = this.#ports.now();
    await this.#ports.yield();
    const yieldMs = this.#ports.now() - before;
    const ownMs = ms - yieldMs;
    if (ownMs < SHORT_MS || ownMs > OURS * yieldMs) this.#took(ownMs);
  }

  /** The turn took so long. */
  #took(ms: number): void {
    if (ms < SHORT_MS) this.#limit = Math.min(OPERATIONS_AT_MOST, this.#limit * 2);
    else if (ms >= TOO_LONG_MS || (this.#limit < OPERATIONS_PER_YIELD && ms > LONG_MS))
      this.#limit = Math.max(1, Math.min(this.#limit >> 1, Math.floor((this.#operations * LONG_MS) / ms)));
    else if (ms > LONG_MS) this.#limit = Math.max(OPERATIONS_PER_YIELD, this.#limit >> 1);
  }
}
