import { sameBytes, type Creation } from "../../protocol/index.js";
import type { ActorRuntime } from "./actor-runtime.js";

/** A start that failed by itself, not for what its caller asked beside it. */
export class StartFailure extends Error {
  readonly #creation: Creation | undefined;

  /** `cause`: what the start threw. `creation`: it was to make the actor, with that input. */
  constructor(cause: unknown, creation?: Creation) {
    super("The start failed", { cause });
    this.#creation = creation;
  }

  /** Whether a caller that asks so would have made the very same start. */
  isFor(creation: Creation): boolean {
    const made = this.#creation;
    if (!made) return true;
    return made.mode !== "get" && creation.mode !== "get" && sameBytes(made.input ?? NONE, creation.input ?? NONE);
  }
}

/** The start of a new actor that its caller was not let in to: nobody else's, and thrown away with that caller's input. */
export class CreatorRefused extends Error {
  constructor(cause: unknown) {
    super("The creator was refused", { cause });
  }
}

/**
 * Which activation of the actor is in memory. All events of the object pass here.
 *
 * Invariants: starts and ends come one after the other, and nothing enters while one goes on; a start that failed has
 * failed for all that waited for it and would have made the same.
 */
export class StartGate {
  #runtime: ActorRuntime | undefined;
  #starting: Promise<ActorRuntime | undefined> | undefined;
  #ending: Promise<void> | undefined;
  #last: ActorRuntime | undefined;

  /** The activation in memory, also while it ends. */
  get runtime(): ActorRuntime | undefined {
    return this.#last ?? this.#runtime;
  }

  /** The activation whose last part goes on. */
  get ending(): ActorRuntime | undefined {
    return this.#last;
  }

  /**
   * The activation that serves: the one that is there, or the one that `begin` makes, if it makes one. It may have begun
   * to end meanwhile. Without `creation` a start of somebody else's that fails is no failure of this one.
   *
   * @throws StartFailure, and whatever else `begin` throws
   */
  async enter(begin: () => Promise<ActorRuntime | undefined>, creation?: Creation): Promise<ActorRuntime | undefined> {
    for (;;) {
      if (this.#starting) {
        const failure: unknown = await this.#starting.then(
          () => undefined,
          (error: unknown) => error,
        );
        if (creation && failure instanceof StartFailure && failure.isFor(creation)) throw failure;
      } else if (this.#ending) await this.#ending;
      else break;
    }
    if (this.#runtime && !this.#runtime.lost) return this.#runtime;
    // Nothing is awaited since the look at `#starting`: no two events begin.
    this.#starting = begin();
    try {
      const runtime = await this.#starting;
      if (runtime) this.#runtime = runtime;
      return runtime;
    } finally {
      this.#starting = undefined;
    }
  }

  /** Nothing enters any more until the activation has ended; `ending` never rejects. */
  endWith(runtime: ActorRuntime, ending: Promise<void>): void {
    this.#last = runtime;
    // One that goes to sleep can be destroyed meanwhile.
    const ended = Promise.all([this.#ending, ending]).then(() => {
      if (this.#ending !== ended) return;
      this.#runtime = undefined;
      this.#last = undefined;
      this.#ending = undefined;
    });
    this.#ending = ended;
  }

  /** Resolves when no end goes on. */
  ended(): Promise<void> {
    return this.#ending ?? Promise.resolve();
  }
}

const NONE = new Uint8Array();
