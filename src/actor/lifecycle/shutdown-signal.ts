import { ActorError } from "../../protocol/index.js";

/** Whether the last part of an activation has begun on purpose, and the signal by which user code sees it. */
export class ShutdownSignal {
  readonly #abort = new AbortController();
  #isBegun = false;

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** True once nothing new may begin; not for an activation that is lost, which has no last part. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  /** Nothing new begins; the signal fires later. */
  close(): void {
    this.#isBegun = true;
  }

  begin(): void {
    this.#isBegun = true;
    this.#abort.abort(new ActorError("actor", "aborted", "The actor is shutting down"));
  }

  /** The activation is over, with or without a last part. */
  over(reason: Error): void {
    this.#abort.abort(reason);
  }
}
