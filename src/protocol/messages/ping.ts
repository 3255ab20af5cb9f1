/**
 * The text frame that a client sends in every encoding to check that an idle connection is still alive; not a message of the
 * protocol. The platform answers it with `PONG`, without waking the object or keeping it awake.
 */
export const PING = "ping";
export const PONG = "pong";
