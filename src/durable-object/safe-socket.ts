import { sendableCloseCode, sendableCloseReason } from "../protocol/index.js";

/** Sends, or does nothing: a socket that is closing or closed tells its end by an event of its own. */
export function sendSafely(socket: WebSocket, frame: string | Uint8Array<ArrayBuffer>): void {
  try {
    socket.send(frame);
  } catch {
    // See above.
  }
}

/** Closes with what a close frame can carry of code and reason; nothing happens to a socket that is closed already. */
export function closeSafely(socket: WebSocket, code: number, reason: string): void {
  try {
    socket.close(sendableCloseCode(code), sendableCloseReason(reason));
  } catch {
    // Closed already.
  }
}
