import { MAX_INTERRUPTIONS } from "../../protocol/index.js";
import type { Lease } from "../storage/lease.js";

/** Cut off so often in a row, the object runs nothing that is suspect until it has come to rest: whose fault it is shows then. */
const WARY_AFTER = MAX_INTERRUPTIONS / 2;
/** An activation that has lived so long is in no crash loop: what nothing is held against runs as ever. */
const CAREFUL_MS = 300_000;
/** And so long, though it never came to rest: what is suspect gets another chance, at the risk of whatever works so long. */
const WARY_MS = 3_600_000;

/** What it must know of the activation. */
export interface Fired {
  readonly lease: Lease | undefined;
  readonly ports: { now(): number; yield(): Promise<void> };
}

/**
 * In which order scheduled actions and recurring jobs run that are due together: side by side those that nothing is held
 * against; one at a time, after all others, those that may be what kills the object (ALARM-14).
 */
export class FireOrder {
  readonly #activation: Fired;
  readonly #startedAt: number;
  readonly #beside = new Set<Promise<void>>();
  #last: Promise<void> = Promise.resolve();

  constructor(activation: Fired) {
    this.#activation = activation;
    this.#startedAt = activation.ports.now();
  }

  /** The last activation was cut off, by whom is not known: whatever runs is marked before it does, and runs alone. */
  get isCareful(): boolean {
    return this.#found > 0 && this.#livedMs < CAREFUL_MS;
  }

  /** It was cut off again and again. */
  get isWary(): boolean {
    return this.#found >= WARY_AFTER && this.#livedMs < WARY_MS;
  }

  /** Runs it now. */
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

  /** Runs it once those have ended that wait already, and those that run by then. */
  alone(work: () => Promise<void>): Promise<void> {
    const running = this.#last
      // Whatever is due as well has begun after that.
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
