import { ActorError } from "../../protocol/index.js";

/** Whether the activation is shutting down on purpose, and the signal that shows it to user code. */
export class ShutdownSignal {
  readonly #abort = new AbortController();
  #isBegun = false;

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** True once nothing new may begin. Stays false for an activation that is lost, which has no shutdown. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  /** Lets nothing new begin. The signal aborts later. */
  close(): void {
    this.#isBegun = true;
  }

  begin(): void {
    this.#isBegun = true;
    this.#abort.abort(new ActorError("actor", "aborted", "The actor is shutting down"));
  }

  /** The activation is over, with or without a shutdown. */
  over(reason: Error): void {
    this.#abort.abort(reason);
  }
}
