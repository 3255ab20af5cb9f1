/**
 * What a client sends as a text frame to see whether the other end of an idle connection is still there, in every encoding:
 * no message of the protocol. The platform answers it with `PONG` for the object, which neither wakes nor stays awake for it.
 */
export const PING = "ping";
export const PONG = "pong";
