import { OPERATIONS_AT_MOST, OPERATIONS_PER_YIELD, REPLAYED_AT_MOST } from "./limits.js";
import type { WorkflowPorts } from "./ports.js";

/** From one yield to the next in less than this, in ms, operations are cheap: twice as many follow. */
const SHORT_MS = 5;
/** In more than this they are not, or the machine is busy: half as many follow. */
const LONG_MS = 10;

/**
 * How many operations a run makes before it lets other events in (FLOW-12). A yield ends the turn, and with it one write to
 * the disk for all of its commits, so cheap operations make many. On Cloudflare the clock stands still while code runs, but
 * not during a yield: a turn's time shows once its yield is over.
 */
export class Pace {
  readonly #ports: Pick<WorkflowPorts, "now" | "yield">;
  #limit = OPERATIONS_PER_YIELD;
  #atMost = OPERATIONS_AT_MOST;
  #operations = 0;
  /** When the last yield was over, epoch ms. */
  #since: number;
  #yielding: Promise<void> | undefined;

  constructor(ports: Pick<WorkflowPorts, "now" | "yield">) {
    this.#ports = ports;
    this.#since = ports.now();
  }

  /** Counts an operation, which is `replayed` if it only delivered what is recorded. True: it is time for `yield`. */
  count(isReplayed: boolean): boolean {
    this.#operations += 1;
    this.#atMost = isReplayed ? REPLAYED_AT_MOST : OPERATIONS_AT_MOST;
    return this.#operations >= Math.min(this.#limit, this.#atMost);
  }

  /** Resolves when other events have had their turn. */
  yield(): Promise<void> {
    return (this.#yielding ??= this.#yield().finally(() => (this.#yielding = undefined)));
  }

  async #yield(): Promise<void> {
    await this.#ports.yield();
    const now = this.#ports.now();
    const tookMs = now - this.#since;
    const limit = Math.min(this.#limit, this.#atMost);
    if (tookMs < SHORT_MS) this.#limit = Math.min(this.#atMost, limit * 2);
    else if (tookMs > LONG_MS) this.#limit = Math.max(OPERATIONS_PER_YIELD, limit >> 1);
    this.#operations = 0;
    this.#since = now;
  }
}
