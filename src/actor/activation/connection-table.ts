import type { ActorError } from "../../protocol/index.js";
import type { Connection } from "./connection.js";
import type { ConnectionMap } from "./connection-map.js";
import type { ConnectionEnd } from "../ports.js";

/** Who is connected, as the other parts of an activation use it; `Connections` is the one that exists. */
export interface ConnectionTable {
  /** `c.conns` */
  readonly view: ConnectionMap;
  includes(connection: Connection): boolean;
  /** What is remembered of a connection has changed: the next commit refreshes it. */
  changed(connection: Connection): void;
  /** @throws actor/validation_error, message/outgoing_too_long, value/not_serializable */
  broadcast(name: string, args: readonly unknown[]): void;
  disconnect(connection: Connection, end: ConnectionEnd): Promise<void>;
  /** Ends a connection for an error, which it is told first. */
  fail(connection: Connection, error: ActorError, code?: number): Promise<void>;
}
