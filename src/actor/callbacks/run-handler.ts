import { ownField } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { describe } from "../activation/thrown.js";

/** What a run handler needs from its actor. */
type RunHandlerHost = Pick<ActorActivation, "callbacks" | "commit" | "ports" | "shutdown" | "workChanged">;

/** Whether the run handler is waiting for messages. */
export interface RunHandlerWaits {
  readonly holdsRunHandler: boolean;
}

/**
 * A plain `run` handler (not a workflow). While it works it holds the lease, so it restarts after a crash. While it waits
 * for messages of the actor's queue, the object may hibernate.
 */
export class PlainRunHandler {
  readonly #activation: RunHandlerHost;
  readonly #waits: RunHandlerWaits;
  #running = false;
  /** Resolves when the handler has ended. */
  ended: Promise<void> = Promise.resolve();

  constructor(activation: RunHandlerHost, waits: RunHandlerWaits) {
    this.#activation = activation;
    this.#waits = waits;
  }

  get isBusy(): boolean {
    return this.#running && !this.#waits.holdsRunHandler;
  }

  /** Calls the handler and logs what it throws. */
  start(run: () => unknown): void {
    this.#running = true;
    const callbackEnded = this.#activation.callbacks.beginRunHandler();
    const running = ownField(this.#activation.ports, "userCode")?.begin("run", true);
    const ended = (async () => (running ? running.call(run) : run()))()
      .catch((error: unknown) => {
        if (!this.#activation.shutdown.signal.aborted)
          this.#activation.ports.log.error({ msg: "The run handler failed", stack: describe(error) });
      })
      .finally(() => {
        this.#running = false;
        callbackEnded();
        running?.end();
        this.#activation.commit();
        this.#activation.workChanged();
      });
    this.ended = ended.then(() => {});
    // Most handlers wait for a message by the end of their first turn: only those still working need the lease.
    this.#activation.ports.waitUntil(this.#activation.ports.yield().then(() => this.#activation.workChanged()));
  }
}
