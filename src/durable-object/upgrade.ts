import type { ObjectEvents } from "../actor/index.js";
import { PING, PONG } from "../protocol/index.js";
import { refusal, serveByEnvelope } from "./enveloped-request.js";
import { HibernatingSocket } from "./hibernating-socket.js";
import { sendSafely } from "./safe-socket.js";
import { replyTag } from "./reply-socket.js";
import { ResidentSocket } from "./resident-socket.js";

/**
 * The tag of raw sockets, whose frames are the user's. The platform's automatic answers apply to all sockets of an
 * object, and would swallow a user's "ping".
 */
const RAW = "raw";

/** Lets the platform answer pings where possible, so that a client's ping neither wakes the object nor is billed. */
export function answerPings(ctx: DurableObjectState): void {
  if (ctx.getWebSockets(RAW).length === 0) ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
  else ctx.setWebSocketAutoResponse();
}

/** Answers a ping where the platform does not. Returns whether the message was one. */
export function isAnsweredPing(ctx: DurableObjectState, socket: WebSocket, message: string | ArrayBuffer): boolean {
  if (message !== PING) return false;
  const known = HibernatingSocket.of(ctx, socket);
  if (known.tags.includes(RAW)) return false;
  known.answeredAt = Date.now();
  sendSafely(socket, PONG);
  return true;
}

/**
 * Accepts a WebSocket after all hooks of the actor have admitted it, for hibernation where possible. Otherwise answers
 * with a refusal.
 */
export function acceptUpgrade(request: Request, ctx: DurableObjectState, events: ObjectEvents): Promise<Response> {
  return serveByEnvelope(request, async (envelope) => {
    const { 0: client, 1: server } = new WebSocketPair();
    const isWait = envelope.operation.kind === "wait" || envelope.operation.kind === "resolve";
    const acceptWait = (token: string): HibernatingSocket => {
      ctx.acceptWebSocket(server, [replyTag(), replyTag(token)]);
      return HibernatingSocket.of(ctx, server);
    };
    const reply = isWait
      ? await events.awaitReply(envelope, acceptWait)
      : await events.connect(envelope, (hibernates) => {
          if (!hibernates) return new ResidentSocket(server, events);
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
