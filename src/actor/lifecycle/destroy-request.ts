import { ActorError } from "../../protocol/index.js";
import type { Callback } from "../activation/callback.js";

/** `c.destroy()`: destroys the actor once the callback that called it has ended. */
export class DestroyRequest {
  readonly #begin: () => void;
  readonly #atTurnEnd: (run: () => void) => void;
  readonly #ended = new WeakSet<Callback>();
  #isMade = false;
  /** The callback that must end first. */
  #asker: Callback | undefined;

  constructor(begin: () => void, atTurnEnd: (run: () => void) => void) {
    this.#begin = begin;
    this.#atTurnEnd = atTurnEnd;
  }

  /** Without a callback, or if it is over, waits for the end of the turn only. @throws {actor/stopping} when called again */
  make(callback?: Callback): void {
    if (this.#isMade) throw new ActorError("actor", "stopping", "The actor is already being destroyed");
    this.#isMade = true;
    if (callback && !this.#ended.has(callback)) this.#asker = callback;
    else this.#atTurnEnd(this.#begin);
  }

  callbackEnded(callback: Callback): void {
    this.#ended.add(callback);
    if (this.#asker === callback) this.#begin();
  }
}
