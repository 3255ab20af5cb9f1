/** The typed façade of connections and events. The runtime behind it is untyped. */
import type { EventArguments, EventDeclarations } from "./declarations.js";

/** Names of an actor's events: the declared ones, or any if none is declared. */
export type EventNames<E extends EventDeclarations> = [keyof E] extends [never] ? string : keyof E & string;
/** What goes with an event: its declared arguments; anything where none is declared. */
export type EventArgs<E extends EventDeclarations, N> = string extends keyof E
  ? any[]
  : N extends keyof E
    ? EventArguments<E[N]>
    : any[];

/**
 * One caller that was let in: a socket as long as it is open, or one call over HTTP or from another actor while it runs.
 * Its type arguments are those of `ActorContext`, in the same order: `Conn<State, Params, ConnState>`.
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
  /** What the client gave, or what `connParamsSchema` made of it; at most 4 KiB. */
  readonly params: CP;
  /**
   * State of this connection, 8,000 bytes encoded at most. It goes with the connection: it survives hibernation, not the
   * socket's end. Without `connState` or `createConnState` the first assignment begins it. @throws actor/conn_state_not_enabled on
   * reading it before that; value/not_serializable on assigning what cannot be stored
   */
  state: CS;
  /** Whether it is a socket, which stays open while the actor hibernates. */
  readonly isHibernatable: boolean;
  /**
   * Sends an event to this connection, subscribed or not, once what is dirty has been committed. To a call that is no
   * socket nothing is sent; that is logged. @throws actor/validation_error, message/outgoing_too_long, value/not_serializable
   */
  send<N extends EventNames<E>>(name: N, ...args: EventArgs<E, N>): void;
  /** Closes it with code 1000 and this reason, after what is dirty has been committed; resolves when `onDisconnect` has ended. */
  disconnect(reason?: string): Promise<void>;
}
/* oxlint-enable no-unused-vars */

/** A connection of any actor. */
export type AnyConn = Conn<any, any, any, any, any, any, any, any>;

/** `c.conns`: who is connected now, by connection id. Live; to be read only. */
export interface Conns<CP, CS, E extends EventDeclarations> extends Map<
  string,
  Conn<any, CP, CS, any, any, any, E, any>
> {
  /** @throws actor/read_only */
  set(id: string, connection: never): this;
  /** @throws actor/read_only: `disconnect()` ends a connection */
  delete(id: string): boolean;
  /** @throws actor/read_only */
  clear(): void;
}

/** How a connection ended: WebSocket close code and reason; 1006 for one that was lost, 1000 for a call that was served. */
export interface Disconnection {
  readonly code: number;
  readonly reason: string;
}
