import type { Connection } from "./connection.js";

/** For the end of a callback: what became of the connections' state while it ran. */
export interface CallbackChanges {
  /**
   * @throws value/too_large for the state of its own connection, and of those for which nothing runs that would be told
   * instead; such a state is put back
   */
  check(): void;
  /** It has ended, well or not. */
  end(): void;
}

/**
 * Which connections differ from what is remembered of them. A state that cannot be stored is put back at the next commit,
 * whoever makes it; told of it is the callback that runs on that connection's behalf, and else whoever ends first.
 */
export class ConnectionChanges {
  readonly #changed = new Set<Connection>();

  add(connection: Connection): void {
    this.#changed.add(connection);
  }

  delete(connection: Connection): void {
    this.#changed.delete(connection);
  }

  /** A callback begins, on a connection's behalf or on nobody's. */
  serving(own: Connection | undefined): CallbackChanges {
    const begun = own?.state?.restores;
    if (own) own.served += 1;
    return {
      check: () => this.#check(own, begun),
      end: () => {
        if (own) own.served -= 1;
      },
    };
  }

  /** For a commit: all of them, each with a state that can be stored. */
  *take(onPutBack: (connection: Connection) => void): Generator<Connection, undefined> {
    for (const connection of this.#changed) {
      const { state } = connection;
      const restores = state?.restores;
      state?.putBackUnstorable();
      if (state?.restores !== restores) onPutBack(connection);
      state?.committed(state.encodeChanges());
      yield connection;
    }
    this.#changed.clear();
  }

  #check(own: Connection | undefined, begun: number | undefined): void {
    let fault: unknown;
    for (const connection of new Set([...(own ? [own] : []), ...this.#changed])) {
      if (connection !== own && connection.served > 0) continue;
      try {
        connection.state?.checkChanges(connection === own ? begun : undefined);
      } catch (error) {
        fault ??= error;
      }
    }
    if (fault !== undefined) throw fault;
  }
}
