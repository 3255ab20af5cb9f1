import type { ActorHost } from "../actor/index.js";
import { ActorError, encodeValue, ENVELOPE_HEADER, parseEnvelopeHeader, toErrorData, type CallEnvelope, type ErrorData } from "../protocol/index.js";
import { HibernatingSocket } from "./hibernating-socket.js";
import { ResidentSocket } from "./resident-socket.js";

/**
 * Lets a WebSocket in: accepted, for hibernation where it may, after all hooks of the actor have let it pass. Otherwise answers the
 * error, encoded as values are stored, with its status.
 */
export async function acceptUpgrade(request: Request, ctx: DurableObjectState, host: ActorHost): Promise<Response> {
  let envelope: CallEnvelope;
  try {
    envelope = { ...parseEnvelopeHeader(request.headers.get(ENVELOPE_HEADER)), request: requestData(request) };
    if (request.headers.get("upgrade") !== "websocket") throw new ActorError("actor", "invalid_request", "Only upgrades come as requests");
  } catch (error) {
    const { data, status } = toErrorData(error);
    return refusal(data, status);
  }
  const { 0: client, 1: server } = new WebSocketPair();
  const reply = await host.connect(envelope, (hibernates) => {
    if (!hibernates) return new ResidentSocket(server, host);
    ctx.acceptWebSocket(server);
    return HibernatingSocket.of(server);
  });
  return reply.ok ? new Response(null, { status: 101, webSocket: client }) : refusal(reply.error, reply.status);
}

function requestData({ method, url, headers }: Request): NonNullable<CallEnvelope["request"]> {
  return { method, url, headers: [...headers].filter(([name]) => name !== ENVELOPE_HEADER) };
}

function refusal(data: ErrorData, status: number): Response {
  return new Response(encodeValue({ ...data }), { status });
}
