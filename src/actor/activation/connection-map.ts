import { ActorError } from "../../protocol/index.js";
import type { Connection, ConnectionView } from "./connection.js";

/** `c.conns`: a live, read-only map of the connections, by id. */
export class ConnectionMap {
  readonly #all: () => ReadonlyMap<string, Connection>;

  /** `all` is called at every access. */
  constructor(all: () => ReadonlyMap<string, Connection>) {
    this.#all = all;
  }

  get #connections(): ReadonlyMap<string, Connection> {
    return this.#all();
  }

  get size(): number {
    return this.#connections.size;
  }

  get(id: string): ConnectionView | undefined {
    return this.#connections.get(id)?.view;
  }

  has(id: string): boolean {
    return this.#connections.has(id);
  }

  keys(): MapIterator<string> {
    return this.#connections.keys();
  }

  *values(): Generator<ConnectionView, undefined> {
    for (const { view } of this.#connections.values()) yield view;
  }

  *entries(): Generator<[string, ConnectionView], undefined> {
    for (const [id, { view }] of this.#connections) yield [id, view];
  }

  set(): never {
    throw readOnly();
  }

  delete(): never {
    throw readOnly();
  }

  clear(): never {
    throw readOnly();
  }

  get [Symbol.toStringTag](): string {
    return "Map";
  }

  forEach(visit: (connection: ConnectionView, id: string, map: ConnectionMap) => void): void {
    for (const [id, view] of this.entries()) visit(view, id, this);
  }

  [Symbol.iterator](): Generator<[string, ConnectionView], undefined> {
    return this.entries();
  }
}

function readOnly(): ActorError {
  return new ActorError("actor", "read_only", "`c.conns` is read-only: call `conn.disconnect()` to end a connection");
}
