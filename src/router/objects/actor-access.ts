import { createActionCaller, type CallAction } from "./call-action.js";
import { createActorCaller, type CallActor } from "./call-actor.js";
import type { ActorNamespace } from "./object-namespace.js";
import { createSocketOpener, type OpenSocket } from "./open-socket.js";
import type { WaitPorts } from "./reply-wait.js";
import { createMessageSender, type SendMessage } from "./send-message.js";
import { createRequestSender, type SendRequest } from "./send-request.js";

/** The ways to call an actor. */
export interface ActorAccess {
  readonly callActor: CallActor;
  readonly callAction: CallAction;
  readonly openSocket: OpenSocket;
  readonly sendMessage: SendMessage;
  readonly sendRequest: SendRequest;
}

/**
 * Returns the access to the actors of a namespace, which is made once for each: a Worker gets the same namespace with
 * every request.
 */
export function createActorAccess(
  actorNames: ReadonlySet<string>,
  ports: Partial<WaitPorts> = {},
): (objects: ActorNamespace) => ActorAccess {
  const made = new WeakMap<ActorNamespace, ActorAccess>();
  return (objects) => {
    const known = made.get(objects);
    if (known !== undefined) return known;
    const callActor = createActorCaller(objects, { ...ports, actorNames });
    const openSocket = createSocketOpener(objects, actorNames, callActor);
    const access = {
      callActor,
      callAction: createActionCaller(objects, actorNames, callActor),
      openSocket,
      sendMessage: createMessageSender(callActor, openSocket, ports),
      sendRequest: createRequestSender(objects, actorNames, callActor),
    };
    made.set(objects, access);
    return access;
  };
}
