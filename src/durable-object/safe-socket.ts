import { sendableCloseCode, sendableCloseReason } from "../protocol/index.js";

/** Sends, or does nothing if the socket is closing or closed: its own event reports the end. */
export function sendSafely(socket: WebSocket, frame: string | Uint8Array<ArrayBuffer>): void {
  try {
    socket.send(frame);
  } catch {
    // The socket is closing or closed.
  }
}

/** Closes with as much of code and reason as a close frame can carry; does nothing if the socket is already closed. */
export function closeSafely(socket: WebSocket, code: number, reason: string): void {
  try {
    socket.close(sendableCloseCode(code), sendableCloseReason(reason));
  } catch {
    // Already closed.
  }
}
