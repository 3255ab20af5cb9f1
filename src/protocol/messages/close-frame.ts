const MAX_REASON_BYTES = 123;

/** A code that a close frame may contain; any other, such as those that mean "no code", becomes 1000. */
export function sendableCloseCode(code: number): number {
  const isStandard = code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code);
  return isStandard || (code >= 3000 && code <= 4999) ? code : 1000;
}

/** Truncates a reason to what a close frame may contain: 123 bytes of UTF-8, no character cut in two. */
export function sendableCloseReason(reason: string): string {
  const bytes = new TextEncoder().encode(reason);
  if (bytes.byteLength <= MAX_REASON_BYTES) return reason;
  return new TextDecoder().decode(bytes.subarray(0, MAX_REASON_BYTES)).replace(/\uFFFD+$/, "");
}
