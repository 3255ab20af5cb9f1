import { HibernatingSocket } from "./hibernating-socket.js";

/**
 * The tag of sockets through which senders wait for replies. They are not connections, and no hook runs when they end.
 */
const REPLY = "reply";

/** The tag of reply sockets with this token; without a token, of all. */
export function replyTag(token?: string): string {
  return token === undefined ? REPLY : `${REPLY}/${token}`;
}

export function isReplySocket(ctx: DurableObjectState, socket: WebSocket): boolean {
  return HibernatingSocket.of(ctx, socket).tags.includes(REPLY);
}
