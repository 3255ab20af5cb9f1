import type { ActorActivation } from "../activation/activation.js";
import { describe } from "../activation/thrown.js";

/** What the run handler's liveness depends on beside itself. */
export interface RunHandlerWaits {
  readonly holdsRunHandler: boolean;
}

/**
 * A plain `run` handler. It works whenever it does not only wait for messages of the actor's queue; while it works the
 * lease is held, so that a crash brings it back, and while it waits the object may hibernate.
 */
export class PlainRunHandler {
  readonly #activation: ActorActivation;
  readonly #waits: RunHandlerWaits;
  #running = false;
  /** Settles when it has ended. */
  ended: Promise<void> = Promise.resolve();

  constructor(activation: ActorActivation, waits: RunHandlerWaits) {
    this.#activation = activation;
    this.#waits = waits;
  }

  get isBusy(): boolean {
    return this.#running && !this.#waits.holdsRunHandler;
  }

  /** Calls the handler; what it throws is logged. It never settles for anybody. */
  start(run: () => unknown): void {
    this.#running = true;
    const callbackEnded = this.#activation.callbacks.beginRunHandler();
    const ended = (async () => run())()
      .catch((error: unknown) => {
        if (!this.#activation.shutdown.signal.aborted)
          this.#activation.ports.log.error({ msg: "The run handler failed", error: describe(error) });
      })
      .finally(() => {
        this.#running = false;
        callbackEnded();
        this.#activation.commit();
        this.#activation.workChanged();
      });
    this.ended = ended.then(() => {});
    // The lease is only for a handler that still works when its first turn is over: most wait for a message by then.
    this.#activation.ports.waitUntil(this.#activation.ports.yield().then(() => this.#activation.workChanged()));
  }
}
