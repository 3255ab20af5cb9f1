import type { ActorHost } from "../actor/index.js";
import { PING, PONG } from "../protocol/index.js";
import { refusal, serveByEnvelope } from "./enveloped-request.js";
import { HibernatingSocket } from "./hibernating-socket.js";
import { sendSafely } from "./safe-socket.js";
import { replyTag } from "./reply-socket.js";
import { ResidentSocket } from "./resident-socket.js";

/**
 * Tag of raw sockets, whose frames are the user's. The platform's automatic answers are one setting for all sockets of an
 * object: they would take a user's "ping" away.
 */
const RAW = "raw";

/** Answered by the platform, where it may: a client that looks whether the object is there neither wakes it nor is billed. */
export function answerPings(ctx: DurableObjectState): void {
  if (ctx.getWebSockets(RAW).length === 0) ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
  else ctx.setWebSocketAutoResponse();
}

/** The same by hand, where the platform may not. */
export function isAnsweredPing(ctx: DurableObjectState, socket: WebSocket, message: string | ArrayBuffer): boolean {
  if (message !== PING || ctx.getTags(socket).includes(RAW)) return false;
  HibernatingSocket.of(ctx, socket).answeredAt = Date.now();
  sendSafely(socket, PONG);
  return true;
}

/**
 * Lets a WebSocket in: accepted, for hibernation where it may, after all hooks of the actor have let it pass. Otherwise
 * answers a refusal.
 */
export function acceptUpgrade(request: Request, ctx: DurableObjectState, host: ActorHost): Promise<Response> {
  return serveByEnvelope(request, async (envelope) => {
    const { 0: client, 1: server } = new WebSocketPair();
    const isWait = envelope.operation.kind === "wait";
    const acceptWait = (token: string): HibernatingSocket => {
      ctx.acceptWebSocket(server, [replyTag(), replyTag(token)]);
      return HibernatingSocket.of(ctx, server);
    };
    const reply = isWait
      ? await host.awaitReply(envelope, acceptWait)
      : await host.connect(envelope, (hibernates) => {
          if (!hibernates) return new ResidentSocket(server, host);
          const isRaw = envelope.operation.kind === "connect" && envelope.operation.raw === true;
          ctx.acceptWebSocket(server, isRaw ? [RAW] : []);
          if (isRaw) answerPings(ctx);
          return HibernatingSocket.of(ctx, server);
        });
    return reply.ok
      ? new Response(null, { status: 101, webSocket: client })
      : refusal(request, reply.error, reply.status);
  });
}
