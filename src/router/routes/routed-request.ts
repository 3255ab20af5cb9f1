import type { ActorAccess } from "../objects/actor-access.js";
import type { SocketPlatform } from "../request/socket-opening.js";
import type { ActorTarget } from "../objects/resolve-stub.js";

/** A request on its way to a route. Its URL is parsed once, here. */
export interface RoutedRequest {
  readonly request: Request;
  readonly url: URL;
  /** The undecoded path below the base path. */
  readonly path: string;
  readonly access: ActorAccess;
  readonly sockets: SocketPlatform;
}

/** A request to one actor. */
export interface ActorRequest extends RoutedRequest {
  readonly target: ActorTarget;
  /** The query without our parameters. */
  readonly userQuery: string;
}

export interface RouteOptions {
  /** The names of the registry's actors. */
  readonly actorNames: ReadonlySet<string>;
  /** The most bytes of an action's body. */
  readonly maxIncomingMessageSize: number;
  /** The most bytes of the answer to an action or a queue send. */
  readonly maxOutgoingMessageSize: number;
  /** The most bytes of a queue send's body before it is parsed. The actor's own limit applies after it. */
  readonly maxQueueBodySize: number;
  /** The only accepted namespace; undefined: any. */
  readonly namespace: string | undefined;
  /** The token of management routes; undefined: they are closed. */
  readonly token: string | undefined;
}
