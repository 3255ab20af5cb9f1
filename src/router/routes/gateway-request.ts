import type { ActorTarget } from "../objects/resolve-stub.js";
import type { CallActor } from "../objects/call-actor.js";
import type { OpenSocket } from "../objects/open-socket.js";
import type { SendRequest } from "../objects/send-request.js";
import type { SendMessage } from "../objects/send-message.js";

/** A request to one actor, with its target resolved. */
export interface GatewayRequest {
  readonly request: Request;
  /** The query without our parameters. */
  readonly userQuery: string;
  readonly target: ActorTarget;
  /** The name of the action or queue, decoded. */
  readonly argument: string;
}

/** The ways to call an actor. */
export interface ActorAccess {
  readonly callActor: CallActor;
  readonly openSocket: OpenSocket;
  readonly sendMessage: SendMessage;
  readonly sendRequest: SendRequest;
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
