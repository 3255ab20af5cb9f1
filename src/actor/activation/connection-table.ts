import type { ActorError } from "../../protocol/index.js";
import type { Connection } from "./connection.js";
import type { ConnectionMap } from "./connection-map.js";
import type { ConnectionEnd } from "../ports.js";

/** The actor's connections, as other parts of the activation use them. Implemented by `Connections`. */
export interface ConnectionTable {
  /** `c.conns` */
  readonly view: ConnectionMap;
  includes(connection: Connection): boolean;
  /** The connection's stored data has changed. The next commit writes it. */
  changed(connection: Connection): void;
  /** Commits the change of a connection at once. @throws {actor/restarting} when the activation is lost */
  store(connection: Connection): void;
  /**
   * Sends an event to all its subscribers, or to none.
   * @throws {actor/validation_error} when the arguments do not match the event's schema
   * @throws {message/outgoing_too_long} when the event is too large
   * @throws {value/not_serializable} when an argument has no encoding
   */
  broadcast(name: string, args: readonly unknown[]): void;
  disconnect(connection: Connection, end: ConnectionEnd): Promise<void>;
  /** Sends the client an error and ends its connection. */
  fail(connection: Connection, error: ActorError, code?: number): Promise<void>;
}
