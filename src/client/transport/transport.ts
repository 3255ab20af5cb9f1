import type { SendResult } from "../../actor/api/client-types.js";
import type { RawCall } from "./raw-call.js";
import type { ClientCodec } from "../config/client-codec.js";
import type { ClientSocket } from "../config/socket.js";

/** The actor of a handle: by name and key, or one life of the key by id. */
export type ActorTarget =
  | {
      readonly name: string;
      readonly key: readonly string[];
      readonly mode: "get" | "getOrCreate";
      /** With `getOrCreate`, for the call that creates the actor; undefined: none. */
      readonly input?: unknown;
      readonly region?: string | undefined;
    }
  | { readonly actorId: string };

/** The parts every call has. */
export interface TargetCall {
  readonly target: ActorTarget;
  /** Connection params; undefined: none. */
  readonly params?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export interface ActionCall extends TargetCall {
  /** A nested action's name has dots. */
  readonly name: string;
  readonly args: readonly unknown[];
}

export interface SendCall extends TargetCall {
  readonly queue: string;
  readonly body: unknown;
  readonly wait: boolean;
  readonly timeout?: number | undefined;
  /** Resolves when the message may leave, which says what it said at the call. */
  readonly after?: Promise<unknown>;
}

export interface CreateCall {
  readonly name: string;
  readonly key: readonly string[];
  readonly input?: unknown;
  readonly region?: string | undefined;
  /** Connection params, for `canCreate`. */
  readonly params?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export interface FetchCall extends TargetCall, RawCall {}

/** A socket of an actor: its connection, or a raw one. */
export type SocketRoute = { readonly kind: "connect" } | { readonly kind: "raw"; readonly path: string };

export interface SocketCall extends TargetCall {
  readonly route: SocketRoute;
  /** The user's subprotocols. */
  readonly protocols?: readonly string[];
}

/**
 * How calls reach actors. Values are encoded in both directions, so caller and actor never share an object, and in the turn
 * of the call, or copied then: what its caller does to them next is not sent. Errors are
 * the same ActorErrors over every transport; an aborted call rejects with its signal's reason.
 */
export interface ActorTransport {
  /** Resolves with the action's result. */
  action(call: ActionCall): Promise<unknown>;
  /** Resolves once the message is stored; with `wait`, once it is completed or the timeout passes. */
  send(call: SendCall): Promise<SendResult<unknown>>;
  /** Resolves with the actor's id. */
  resolve(call: TargetCall): Promise<string>;
  /**
   * Creates an actor and resolves with its id.
   *
   * @throws {actor/duplicate_key} when the key exists
   */
  create(call: CreateCall): Promise<string>;
  /** The base URL of the actor's routes. */
  gatewayUrl(call: TargetCall): Promise<string>;
  /**
   * Resolves with the answer of the actor's `onRequest`; an error on the actor's side is an answer too. Rejects without
   * one.
   */
  fetch(call: FetchCall): Promise<Response>;
  /**
   * Resolves with a socket that is open or opening. Rejects if none can be tried, or if the reason of a refusal is
   * known; a failure the socket itself reports is its "close".
   */
  openSocket(call: SocketCall): Promise<ClientSocket>;
  /** The codec of a connection's frames, loaded once `openSocket` has resolved for one. */
  readonly codec: ClientCodec;
  /** After how much silence an open connection pings, in ms; undefined: never. */
  readonly pingIntervalMs: number | undefined;
  /** The name of the other end in errors, without secrets. */
  readonly place: string;
}
