import type { SendResult } from "../../actor/api/client-types.js";
import type { Encoding } from "../../protocol/index.js";
import type { RawCall } from "./raw-call.js";
import type { ClientSocket } from "../config/socket.js";

/** Which actor a handle means: a key of a name, or one life of it by its id. */
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

/** What every call carries. */
export interface TargetCall {
  readonly target: ActorTarget;
  /** Connection params; undefined: none. */
  readonly params?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export interface ActionCall extends TargetCall {
  /** Dotted, if nested. */
  readonly name: string;
  readonly args: readonly unknown[];
}

export interface SendCall extends TargetCall {
  readonly queue: string;
  readonly body: unknown;
  readonly wait: boolean;
  readonly timeout?: number | undefined;
}

export interface CreateCall {
  readonly name: string;
  readonly key: readonly string[];
  readonly input?: unknown;
  readonly region?: string | undefined;
  /** For who may create. */
  readonly params?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export interface FetchCall extends TargetCall, RawCall {}

/** Which socket of an actor: its connection, or a raw one. */
export type SocketRoute = { readonly kind: "connect" } | { readonly kind: "raw"; readonly path: string };

export interface SocketCall extends TargetCall {
  readonly route: SocketRoute;
  /** Subprotocols of the user's own. */
  readonly protocols?: readonly string[];
}

/**
 * How calls reach actors. Values go through a codec both ways, so that caller and actor never share an object. Errors are
 * ActorErrors, the same on every way; an aborted call rejects with its signal's reason.
 */
export interface ActorTransport {
  /** Resolves with the action's result. */
  action(call: ActionCall): Promise<unknown>;
  /** Resolves once the message is stored; with `wait` when it is completed or the time is over. */
  send(call: SendCall): Promise<SendResult<unknown>>;
  /** The actor's id. */
  resolve(call: TargetCall): Promise<string>;
  /** Creates an actor and resolves with its id. Rejects with `actor/duplicate_key` if the key exists. */
  create(call: CreateCall): Promise<string>;
  /** The URL below which the actor's routes lie. */
  gatewayUrl(call: TargetCall): Promise<string>;
  /** What the actor's `onRequest` answers; an error of the actor's side is an answer, too. Rejects if none came. */
  fetch(call: FetchCall): Promise<Response>;
  /**
   * A socket that is open or about to be. Rejects if none can be tried, or if it is known why it was refused; a failure
   * that a socket itself reports is its "close".
   */
  openSocket(call: SocketCall): Promise<ClientSocket>;
  /** How the frames of a connection are written. */
  readonly encoding: Encoding;
  /** After how much silence an open connection pings; undefined: never. */
  readonly pingIntervalMs: number | undefined;
  /** What errors call the other end; without secrets. */
  readonly place: string;
}
