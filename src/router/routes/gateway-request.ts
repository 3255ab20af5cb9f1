import type { ActorTarget } from "../objects/resolve-stub.js";
import type { CallActor } from "../objects/call-actor.js";
import type { OpenSocket } from "../objects/open-socket.js";
import type { SendRequest } from "../objects/send-request.js";
import type { SendMessage } from "../objects/send-message.js";

/** A request to one actor, addressed and ready for its verb. */
export interface GatewayRequest {
  readonly request: Request;
  /** The query without our own parameters. */
  readonly userQuery: string;
  readonly target: ActorTarget;
  /** The name of the action or queue, decoded. */
  readonly argument: string;
}

/** The ways into an actor. */
export interface ActorAccess {
  readonly callActor: CallActor;
  readonly openSocket: OpenSocket;
  readonly sendMessage: SendMessage;
  readonly sendRequest: SendRequest;
}

export interface GatewayOptions {
  /** Bytes of an action's body. */
  readonly maxIncomingMessageSize: number;
  /** Bytes of the answer to an action or a queue send. */
  readonly maxOutgoingMessageSize: number;
  /** Bytes of a queue message's body, before it is parsed. The actor's own limit comes after it. */
  readonly maxQueueBodySize: number;
  /** The only namespace there is; any is accepted if undefined. */
  readonly namespace: string | undefined;
}
