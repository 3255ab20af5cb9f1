import type { ActorTarget } from "../objects/resolve-stub.js";

/** A request to one actor, with its target resolved. */
export interface GatewayRequest {
  readonly request: Request;
  /** The query without our parameters. */
  readonly userQuery: string;
  readonly target: ActorTarget;
  /** The name of the action or queue, decoded. */
  readonly argument: string;
}

export interface GatewayOptions {
  /** The most bytes of an action's body. */
  readonly maxIncomingMessageSize: number;
  /** The most bytes of the answer to an action or a queue send. */
  readonly maxOutgoingMessageSize: number;
  /** The most bytes of a queue send's body before it is parsed. The actor's own limit applies after it. */
  readonly maxQueueBodySize: number;
  /** The only accepted namespace; undefined: any. */
  readonly namespace: string | undefined;
}
