/** Tag of the sockets through which senders wait for replies: they are no connections, and nobody is told when they end. */
const REPLY = "reply";

/** Tag of those that know their message by a token; without one, of all. */
export function replyTag(token?: string): string {
  return token === undefined ? REPLY : `${REPLY}/${token}`;
}

export function isReplySocket(ctx: DurableObjectState, socket: WebSocket): boolean {
  return ctx.getTags(socket).includes(REPLY);
}
