import { sameBytes, type Creation } from "../../protocol/index.js";
import type { ActorRuntime } from "./actor-runtime.js";

/** A start that failed for its own reasons, not because of this caller's request. */
export class StartFailure extends Error {
  readonly #creation: Creation | undefined;

  /** `cause`: what the start threw. `creation`: how it would have created the actor. */
  constructor(cause: unknown, creation?: Creation) {
    super("The start failed", { cause });
    this.#creation = creation;
  }

  /** Whether a caller with this request would have made the same start. */
  isFor(creation: Creation): boolean {
    const made = this.#creation;
    if (!made) return true;
    return made.mode !== "get" && creation.mode !== "get" && sameBytes(made.input ?? NONE, creation.input ?? NONE);
  }
}

/** The start of a new actor whose caller was refused. It fails that caller only. */
export class CreatorRefused extends Error {
  constructor(cause: unknown) {
    super("The creator was refused", { cause });
  }
}

/**
 * The one activation of the actor in memory. All events of the object pass here (START-1).
 *
 * Invariants: starts and shutdowns run one after the other, and no event enters during one; a failed start fails every
 * waiting caller that would have made the same start.
 */
export class StartGate {
  #runtime: ActorRuntime | undefined;
  #starting: Promise<ActorRuntime | undefined> | undefined;
  #ending: Promise<void> | undefined;
  #last: ActorRuntime | undefined;

  /** The activation in memory, even while it shuts down. */
  get runtime(): ActorRuntime | undefined {
    return this.#last ?? this.#runtime;
  }

  /** The activation that is shutting down. */
  get ending(): ActorRuntime | undefined {
    return this.#last;
  }

  /**
   * Returns the activation in memory, or the result of `begin`. It may have begun to shut down meanwhile. Without
   * `creation`, a failed start of another caller does not fail this one.
   *
   * @throws {StartFailure} when the start fails; whatever else `begin` throws
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
    // No await since `#starting` was checked, so only one event begins a start.
    this.#starting = begin();
    try {
      const runtime = await this.#starting;
      if (runtime) this.#runtime = runtime;
      return runtime;
    } finally {
      this.#starting = undefined;
    }
  }

  /** Lets nothing enter until the activation has ended. `ending` must not reject. */
  endWith(runtime: ActorRuntime, ending: Promise<void>): void {
    this.#last = runtime;
    // An actor that is going to sleep can be destroyed meanwhile.
    const ended = Promise.all([this.#ending, ending]).then(() => {
      if (this.#ending !== ended) return;
      this.#runtime = undefined;
      this.#last = undefined;
      this.#ending = undefined;
    });
    this.#ending = ended;
  }

  /** Resolves when no shutdown is in progress. */
  ended(): Promise<void> {
    return this.#ending ?? Promise.resolve();
  }
}

const NONE = new Uint8Array();
