import { REAL_PORTS, type Connection, type ConnectionPorts } from "./connection.js";

/** The connections of one client that were not disposed of yet. */
export class OpenConnections {
  readonly ports: ConnectionPorts;
  readonly #all = new Set<Connection>();

  constructor(ports: ConnectionPorts = REAL_PORTS) {
    this.ports = ports;
  }

  add(connection: Connection): void {
    this.#all.add(connection);
  }

  delete(connection: Connection): void {
    this.#all.delete(connection);
  }

  disposeAll(): void {
    for (const connection of this.#all) connection.dispose();
  }
}
