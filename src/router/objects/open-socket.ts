import { ENVELOPE_HEADER, formatEnvelopeHeader, type CallEnvelope } from "../../protocol/index.js";
import { fitHeader } from "./fit-header.js";
import { envelopeOf, platformErrorOf, type ActorCall, type CallActor } from "./call-actor.js";
import type { ActorNamespace } from "./object-namespace.js";
import { refusalOf } from "./refusal-of.js";
import { resolveStub } from "./resolve-stub.js";

/**
 * Opens a socket to an actor and returns the caller's end, not yet accepted. Tried once, since hooks of the actor may
 * have run. Throws the errors of `CallActor`.
 */
export type OpenSocket = (call: ActorCall) => Promise<WebSocket>;

/** Opens sockets to the objects of one namespace. */
export function createSocketOpener(
  objects: ActorNamespace,
  actorNames: ReadonlySet<string> | undefined,
  callActor: CallActor,
): OpenSocket {
  return async (call) => {
    const fitting = await fitHeader(call, callActor);
    const resolved = resolveStub(objects, fitting.target, actorNames);
    const { request, ...envelope } = envelopeOf(fitting, resolved);
    let response: Response;
    try {
      // A caller inside the Worker has no request; the actor ignores this URL.
      const url = request?.url ?? "http://actor/connect";
      response = await resolved.openStub().fetch(url, { headers: upgradeHeaders(envelope, request) });
    } catch (error) {
      throw platformErrorOf(error);
    }
    if (response.webSocket) return response.webSocket;
    throw await refusalOf(response);
  };
}

/** As a record: neither a Headers nor a Request is made of them on this side. */
function upgradeHeaders(
  envelope: Omit<CallEnvelope, "request">,
  request: CallEnvelope["request"],
): Readonly<Record<string, string>> {
  const headers = Object.create(null) as Record<string, string>;
  for (const [name, value] of request?.headers ?? []) headers[name] = value;
  headers["upgrade"] = "websocket";
  headers[ENVELOPE_HEADER] = formatEnvelopeHeader(envelope);
  return headers;
}
