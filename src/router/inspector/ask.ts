/** Asks objects what operators ask, and answers with it. */
import { ActorError, decodeJson, textOf, type InspectQuestion } from "../../protocol/index.js";
import { createActorCaller, type CallActor } from "../objects/call-actor.js";
import type { ActorNamespace } from "../objects/object-namespace.js";
import { createSocketOpener } from "../objects/open-socket.js";
import type { ActorTarget } from "../objects/resolve-stub.js";

/** The callers of objects, one for each namespace: they call actors that the registry does not know, too. */
const callers = new WeakMap<object, CallActor>();

function callerOf(objects: ActorNamespace): CallActor {
  let call = callers.get(objects);
  if (call === undefined) callers.set(objects, (call = createActorCaller(objects, { actorNames: undefined })));
  return call;
}

interface Asked {
  readonly objects: ActorNamespace;
}

/** The answer as UTF-8 JSON. @throws {feature/unsupported} when the object is of an earlier release; the actor's errors */
export async function ask({ objects }: Asked, target: ActorTarget, inspect: InspectQuestion): Promise<Uint8Array> {
  const { output } = await callerOf(objects)({ target, operation: { kind: "resolve", inspect } });
  if (output !== undefined) return output;
  throw new ActorError("feature", "unsupported", "The actor's object is of a release without the inspector.");
}

/** The answer decoded. Throws what `ask` throws. */
export async function askFor<T>(asked: Asked, target: ActorTarget, inspect: InspectQuestion): Promise<T> {
  return decodeJson(textOf(await ask(asked, target, inspect))) as T;
}

/** Opens a socket to the object that is told what changes, not yet accepted. */
export function openWatch({ objects }: Asked, target: ActorTarget): Promise<WebSocket> {
  const open = createSocketOpener(objects, undefined, callerOf(objects));
  return open({ target, operation: { kind: "resolve", inspect: { about: "watch" } } });
}

export function json(value: object): Response {
  return jsonText(JSON.stringify(value));
}

export function jsonText(body: string | Uint8Array): Response {
  const headers = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
  return new Response(body as BodyInit, { headers });
}
