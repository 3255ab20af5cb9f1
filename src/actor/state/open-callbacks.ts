/** A state that callbacks hand objects in to. */
export interface WatchedState {
  /** A callback ended that began before the last hand-in, so it may have written through its own references. */
  mayDiffer(): void;
}

interface Open {
  readonly name: string;
  begun: number;
}

/**
 * The running callbacks of user code. A callback that hands an object in may write to it through its own reference
 * until it ends, and no view sees that. A state is therefore told when such a callback ends.
 */
export class OpenCallbacks {
  #handIns = 0;
  readonly #open = new Set<Open>();
  /** The last hand-in to each state for which a callback that may have made it still runs. */
  readonly #watched = new Map<WatchedState, number>();
  #lastEnded: Open | undefined;
  #runHandler: Open | undefined;

  /** Whether user code runs, the run handler included. */
  get areOpen(): boolean {
    return this.#open.size > 0;
  }

  handedIn(state: WatchedState): void {
    this.#handIns += 1;
    this.#watched.set(state, this.#handIns);
  }

  /** A callback begins, named `name` in the log. Call the returned function at its end, before its last commit. */
  begin(name: string): () => void {
    const callback = { name, begun: this.#handIns };
    this.#open.add(callback);
    return () => {
      if (this.#open.delete(callback)) this.#ended(callback);
    };
  }

  /**
   * The same for the run handler, which may never end: each wait for a message counts as the end of what it did before.
   */
  beginRunHandler(): () => void {
    const ended = this.begin("run");
    this.#runHandler = [...this.#open].at(-1);
    return () => {
      this.#runHandler = undefined;
      ended();
    };
  }

  runHandlerWaits(): void {
    if (!this.#runHandler) return;
    const before = { ...this.#runHandler };
    this.#runHandler.begun = this.#handIns;
    this.#ended(before);
  }

  /** User code asked for a save: stores everything it has written so far. */
  saveAll(): void {
    for (const state of this.#watched.keys()) state.mayDiffer();
  }

  #earliest(): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const { begun } of this.#open) if (begun < earliest) earliest = begun;
    return earliest;
  }

  #ended(callback: Open): void {
    this.#lastEnded = callback;
    const earliest = this.#earliest();
    for (const [state, at] of this.#watched) {
      if (at > callback.begun) state.mayDiffer();
      // No running callback can have handed anything in: drops the state, as connections come and go.
      if (at <= earliest) this.#watched.delete(state);
    }
  }

  /** Whether a callback that may have handed something in is still running. */
  isWatched(state: WatchedState): boolean {
    const at = this.#watched.get(state);
    return at !== undefined && this.#earliest() < at;
  }

  /** Names of the callbacks that may have made the last hand-in. */
  suspects(): string[] {
    const at = this.#handIns;
    const ran = this.#lastEnded ? [...this.#open, this.#lastEnded] : [...this.#open];
    return ran.filter(({ begun }) => begun < at).map(({ name }) => name);
  }
}
