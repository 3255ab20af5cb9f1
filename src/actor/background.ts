import type { ActorActivation } from "./activation.js";
import { describe } from "./describe.js";

/**
 * Work with no client that a crash would interrupt: scheduled actions, `keepAwake`, a run handler between its waits.
 * While any of it runs the lease is held (D5).
 */
export class Background {
  readonly #activation: ActorActivation;
  #running = 0;

  constructor(activation: ActorActivation) {
    this.#activation = activation;
  }

  get isBusy(): boolean {
    return this.#running > 0;
  }

  /** Runs to the end; what it throws is logged. The lease is in the dirty set when this returns, and must be committed. */
  run(what: string, work: () => Promise<unknown>): void {
    this.#running += 1;
    this.#activation.holdLease();
    const running = (async () => work())()
      .catch((error: unknown) => this.#activation.ports.log.error({ msg: `${what} failed`, error: describe(error) }))
      .finally(() => {
        this.#running -= 1;
        this.#activation.workChanged();
      });
    this.#activation.ports.waitUntil(running);
  }
}
