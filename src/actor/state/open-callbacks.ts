/** A state that objects are handed in to. */
export interface WatchedState {
  /** A callback that began before what was handed in last has ended: it may have written through its own references. */
  mayDiffer(): void;
}

interface Open {
  readonly name: string;
  begun: number;
}

/**
 * The callbacks of user code that run, as far as states need to know of them: whoever hands an object in may write through
 * its own reference until its callback has ended, and no view tells of that.
 */
export class OpenCallbacks {
  #handIns = 0;
  readonly #open = new Set<Open>();
  /** When something was handed in last, for each state where a callback that may have done it still runs. */
  readonly #watched = new Map<WatchedState, number>();
  #lastEnded: Open | undefined;
  #runHandler: Open | undefined;

  handedIn(state: WatchedState): void {
    this.#handIns += 1;
    this.#watched.set(state, this.#handIns);
  }

  /** A callback begins, called `name` in the log. What is returned is called at its end, before its last commit. */
  begin(name: string): () => void {
    const callback = { name, begun: this.#handIns };
    this.#open.add(callback);
    return () => {
      if (this.#open.delete(callback)) this.#ended(callback);
    };
  }

  /** The same for the run handler, which may never end: whenever it waits for a message, what it did until then has ended. */
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

  /** Asked for by user code: all that it has written is to be stored now. */
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
      // Connections come and go: one that nobody can have handed anything in to is kept no longer.
      if (at <= earliest) this.#watched.delete(state);
    }
  }

  /** Whether one that may have handed something in still runs. */
  isWatched(state: WatchedState): boolean {
    const at = this.#watched.get(state);
    return at !== undefined && this.#earliest() < at;
  }

  /** Those that may have handed in what came last. */
  suspects(): string[] {
    const at = this.#handIns;
    const ran = this.#lastEnded ? [...this.#open, this.#lastEnded] : [...this.#open];
    return ran.filter(({ begun }) => begun < at).map(({ name }) => name);
  }
}
