import type { ActorActivation } from "../activation/activation.js";
import { describe } from "../activation/thrown.js";

/**
 * Work with no client. What a crash would interrupt (scheduled actions, `keepAwake`, a run handler between its waits) holds
 * the lease while it runs (D5); what is only waited for (`waitUntil`) does not. Either is given time at the actor's end.
 */
export class Background {
  readonly #activation: ActorActivation;
  readonly #pending = new Set<Promise<void>>();
  #running = 0;

  constructor(activation: ActorActivation) {
    this.#activation = activation;
  }

  get isBusy(): boolean {
    return this.#running > 0;
  }

  /** Runs to the end; what it throws is logged. The lease is in the dirty set when this returns, and must be committed. */
  run(what: string, work: () => unknown): void {
    this.#running += 1;
    this.#activation.holdLease();
    this.#keep(what, work, () => {
      this.#running -= 1;
      this.#activation.workChanged();
    });
  }

  /** Nobody else awaits it: a rejection is logged, the object stays until it settles. */
  waitFor(what: string, promise: unknown): void {
    this.#keep(
      what,
      () => promise,
      () => {},
    );
  }

  /** Resolves when nothing of it is left, or at a time in epoch ms. */
  async settled(until: number): Promise<void> {
    const { timers, ports } = this.#activation;
    let over = until <= ports.now();
    let stop = (): void => {};
    const timedOut = new Promise<void>((resolve) => {
      stop = resolve;
    });
    const timer = {
      at: until,
      fire: (): void => {
        over = true;
        stop();
      },
    };
    timers.add(timer);
    while (this.#pending.size > 0 && !over) await Promise.race([Promise.all(this.#pending), timedOut]);
    timers.remove(timer);
  }

  #keep(what: string, work: () => unknown, ended: () => void): void {
    const pending = (async () => work())()
      .then(
        () => {},
        (error: unknown) => this.#activation.ports.log.error({ msg: `${what} failed`, error: describe(error) }),
      )
      .finally(() => {
        this.#pending.delete(pending);
        ended();
      });
    this.#pending.add(pending);
    this.#activation.ports.waitUntil(pending);
  }
}
