import { MAX_INTERRUPTIONS } from "../../protocol/index.js";
import type { Lease } from "../storage/lease.js";

/**
 * After so many cut-offs in a row the object runs no suspects until it has rested, which shows whether they are at
 * fault.
 */
const WARY_AFTER = MAX_INTERRUPTIONS / 2;
/** An activation that lives this long is in no crash loop: work that is not suspect runs as usual. */
const CAREFUL_MS = 300_000;
/** After this long without rest, suspects get another chance, at the risk of other work that runs so long. */
const WARY_MS = 3_600_000;

/** What the order needs from the activation. */
export interface FireHost {
  readonly lease: Lease | undefined;
  readonly ports: { now(): number; yield(): Promise<void> };
}

/**
 * The order in which due schedules and jobs run: concurrently, but suspects, which may be what kills the object, one at
 * a time after all others (ALARM-14).
 */
export class FireOrder {
  readonly #activation: FireHost;
  readonly #startedAt: number;
  readonly #beside = new Set<Promise<void>>();
  #last: Promise<void> = Promise.resolve();

  constructor(activation: FireHost) {
    this.#activation = activation;
    this.#startedAt = activation.ports.now();
  }

  /**
   * True when the last activation was cut off and the cause is not known: work is marked on disk first and runs alone.
   */
  get isCareful(): boolean {
    return this.#found > 0 && this.#livedMs < CAREFUL_MS;
  }

  /** True after repeated cut-offs. */
  get isWary(): boolean {
    return this.#found >= WARY_AFTER && this.#livedMs < WARY_MS;
  }

  /** Runs the work now, beside other work. */
  beside(work: () => Promise<void>): Promise<void> {
    const running = work();
    const ended = running
      .then(
        () => {},
        () => {},
      )
      .finally(() => this.#beside.delete(ended));
    this.#beside.add(ended);
    return running;
  }

  /** Runs the work after all that is queued here and all that is running by then. */
  alone(work: () => Promise<void>): Promise<void> {
    const running = this.#last
      // Lets other due work begin first.
      .then(() => this.#activation.ports.yield())
      .then(() => Promise.all(this.#beside))
      .then(work);
    this.#last = running.then(
      () => {},
      () => {},
    );
    return running;
  }

  get #found(): number {
    return this.#activation.lease?.found ?? 0;
  }

  get #livedMs(): number {
    return this.#activation.ports.now() - this.#startedAt;
  }
}
