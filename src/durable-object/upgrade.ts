import type { ActorHost } from "../actor/index.js";
import { refusal, serveByEnvelope } from "./enveloped-request.js";
import { HibernatingSocket } from "./hibernating-socket.js";
import { ResidentSocket } from "./resident-socket.js";

/** Lets a WebSocket in: accepted, for hibernation where it may, after all hooks of the actor have let it pass. Otherwise answers a refusal. */
export function acceptUpgrade(request: Request, ctx: DurableObjectState, host: ActorHost): Promise<Response> {
  return serveByEnvelope(request, async (envelope) => {
    const { 0: client, 1: server } = new WebSocketPair();
    const reply = await host.connect(envelope, (hibernates) => {
      if (!hibernates) return new ResidentSocket(server, host);
      ctx.acceptWebSocket(server);
      return HibernatingSocket.of(server);
    });
    return reply.ok ? new Response(null, { status: 101, webSocket: client }) : refusal(reply.error, reply.status);
  });
}
