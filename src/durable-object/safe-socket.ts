const MAX_REASON_BYTES = 123;

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
    socket.close(sendableCode(code), shortened(reason));
  } catch {
    // Closed already.
  }
}

/** Only these may stand in a close frame; the others mean that there was none. */
function sendableCode(code: number): number {
  const isStandard = code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code);
  return isStandard || (code >= 3000 && code <= 4999) ? code : 1000;
}

/** At most 123 bytes of UTF-8, with no character cut in two. */
function shortened(reason: string): string {
  const bytes = new TextEncoder().encode(reason);
  if (bytes.byteLength <= MAX_REASON_BYTES) return reason;
  return new TextDecoder().decode(bytes.subarray(0, MAX_REASON_BYTES)).replace(/\uFFFD+$/, "");
}
