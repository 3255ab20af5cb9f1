const MAX_REASON_BYTES = 123;

/** A code that may stand in a close frame; those that mean that there was none, and others that may not, become 1000. */
export function sendableCloseCode(code: number): number {
  const isStandard = code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code);
  return isStandard || (code >= 3000 && code <= 4999) ? code : 1000;
}

/** A reason that fits a close frame: at most 123 bytes of UTF-8, with no character cut in two. */
export function sendableCloseReason(reason: string): string {
  const bytes = new TextEncoder().encode(reason);
  if (bytes.byteLength <= MAX_REASON_BYTES) return reason;
  return new TextDecoder().decode(bytes.subarray(0, MAX_REASON_BYTES)).replace(/\uFFFD+$/, "");
}
