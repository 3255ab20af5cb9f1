import { ActorError } from "../../protocol/index.js";
import type { Callback } from "../activation/callback.js";

/** `c.destroy()`: the actor ends once the callback that asked for it has. */
export class DestroyRequest {
  readonly #begin: () => void;
  readonly #atTurnEnd: (run: () => void) => void;
  readonly #ended = new WeakSet<Callback>();
  #isMade = false;
  /** Whose end the actor's waits for. */
  #asker: Callback | undefined;

  constructor(begin: () => void, atTurnEnd: (run: () => void) => void) {
    this.#begin = begin;
    this.#atTurnEnd = atTurnEnd;
  }

  /** Without a callback, or with one that is over, there is nothing to wait for but the turn. @throws actor/stopping the second time */
  make(callback?: Callback): void {
    if (this.#isMade) throw new ActorError("actor", "stopping", "The actor is being destroyed already");
    this.#isMade = true;
    if (callback && !this.#ended.has(callback)) this.#asker = callback;
    else this.#atTurnEnd(this.#begin);
  }

  callbackEnded(callback: Callback): void {
    this.#ended.add(callback);
    if (this.#asker === callback) this.#begin();
  }
}
