/** The types of connections and events. The runtime behind them is untyped. */
import type { EventArguments, EventDeclarations } from "./declarations.js";

/** Names of an actor's events: the declared ones, or any if none is declared. */
export type EventNames<E extends EventDeclarations> = [keyof E] extends [never] ? string : keyof E & string;
/** The arguments of an event: the declared ones, or anything if none is declared. */
export type EventArgs<E extends EventDeclarations, N> = string extends keyof E
  ? any[]
  : N extends keyof E
    ? EventArguments<E[N]>
    : any[];

/**
 * One admitted caller: a socket while it is open, or one call over HTTP or from another actor while it runs. Its type
 * arguments are those of `ActorContext`, in the same order: `Conn<State, Params, ConnState>`.
 */
/* oxlint-disable no-unused-vars -- all take the same parameters in the same order */
export interface Conn<
  S = unknown,
  CP = unknown,
  CS = unknown,
  V = unknown,
  I = unknown,
  DB = unknown,
  E extends EventDeclarations = any,
  Q = unknown,
> {
  /** Unique among all connections of the actor. */
  readonly id: string;
  /** The client's params, or the output of `connParamsSchema`. At most 4 KiB. */
  readonly params: CP;
  /**
   * The connection's state: a live object of at most 8,000 encoded bytes. It survives hibernation and ends with the
   * socket. Without `connState` or `createConnState` it begins with the first assignment.
   *
   * @example
   *     c.conn.state.muted = true;
   * @throws {actor/conn_state_not_enabled} when it is read before it exists
   * @throws {value/not_serializable} when the assigned value cannot be stored
   * @throws {value/too_large} when it would be larger than 8,000 bytes
   */
  state: CS;
  /** Whether it is a socket that stays open while the actor hibernates. */
  readonly isHibernatable: boolean;
  /**
   * Sends an event to this connection, subscribed or not, after all changes so far are committed. A call without a
   * socket receives nothing, which is logged.
   *
   * @example
   *     c.conn.send("welcome", c.state.motd);
   * @throws {actor/validation_error} when the event's schema rejects the arguments
   * @throws {message/outgoing_too_long} when the encoded event is larger than `maxOutgoingMessageSize`
   * @throws {value/not_serializable} when an argument cannot be encoded
   */
  send<N extends EventNames<E>>(name: N, ...args: EventArgs<E, N>): void;
  /**
   * Closes the connection with code 1000, after all changes so far are committed. Resolves once `onDisconnect` has
   * ended. A reason that begins with `auth.` stops the client from connecting again.
   *
   * @example
   *     await c.conns.get(id)?.disconnect("auth.kicked");
   */
  disconnect(reason?: string): Promise<void>;
}
/* oxlint-enable no-unused-vars */

/** A connection of any actor. */
export type AnyConn = Conn<any, any, any, any, any, any, any, any>;

/** `c.conns`: the connections now, by id. A live map that cannot be written. */
export interface Conns<CP, CS, E extends EventDeclarations> extends Map<
  string,
  Conn<any, CP, CS, any, any, any, E, any>
> {
  /** @throws {actor/read_only} always */
  set(id: string, connection: never): this;
  /** @throws {actor/read_only} always: end a connection with its `disconnect()` */
  delete(id: string): boolean;
  /** @throws {actor/read_only} always */
  clear(): void;
}

/**
 * How a connection ended: the WebSocket close code and reason. 1006: the socket was lost; 1000 also: a call was served.
 */
export interface Disconnection {
  readonly code: number;
  readonly reason: string;
}
