import { ActorError } from "../../protocol/index.js";
import type { Callback } from "../activation/activation.js";

/** `c.destroy()`: the actor ends once the callback that asked for it has. */
export class DestroyRequest {
  readonly #begin: () => void;
  readonly #atTurnEnd: (run: () => void) => void;
  readonly #ended = new WeakSet<Callback>();
  #asker: Callback | undefined;

  constructor(begin: () => void, atTurnEnd: (run: () => void) => void) {
    this.#begin = begin;
    this.#atTurnEnd = atTurnEnd;
  }

  /** Without a callback, or with one that is over, there is nothing to wait for but the turn. @throws actor/stopping the second time */
  make(callback?: Callback): void {
    if (this.#asker) throw new ActorError("actor", "stopping", "The actor is being destroyed already");
    const asker = callback ?? {};
    this.#asker = asker;
    if (!callback || this.#ended.has(callback)) this.#atTurnEnd(() => this.callbackEnded(asker));
  }

  callbackEnded(callback: Callback): void {
    this.#ended.add(callback);
    if (this.#asker === callback) this.#begin();
  }
}
