import type { Connection, ConnectionView } from "../activation/connection.js";

/** Calls whose connection no hook sees: it is made, and in the table, once user code asks for it (CONN-2). */
export class UnseenCalls {
  readonly #table: Map<string, Connection>;
  readonly #open = new Set<() => Connection>();

  constructor(table: Map<string, Connection>) {
    this.#table = table;
  }

  async during<T>(make: () => Connection, serve: (conn: () => ConnectionView) => Promise<T>): Promise<T> {
    let made: Connection | undefined;
    const connection = (): Connection => {
      if (made) return made;
      made = make();
      // Code that still runs when its call has ended sees a connection that is gone.
      if (this.#open.has(connection)) this.#table.set(made.id, made);
      return made;
    };
    this.#open.add(connection);
    try {
      return await serve(() => connection().view);
    } finally {
      this.#open.delete(connection);
      if (made) this.#table.delete((made as Connection).id);
    }
  }

  /** Makes the connections of all calls that run, for code that looks at all connections. */
  show(): void {
    for (const connection of this.#open) connection();
  }

  /** The actor is being destroyed: calls that still run are no connections. */
  clear(): void {
    this.#open.clear();
  }
}
