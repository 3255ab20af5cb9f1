const PRIME = 0x01000193;

/** 16 hexadecimal digits that tell two stored values apart (FNV-1a, with two seeds). It protects from accidents, not from attacks. */
export function fingerprint(bytes: Uint8Array): string {
  let [a, b] = [0x811c9dc5, bytes.length ^ 0x9e3779b9];
  for (const byte of bytes) {
    a = Math.imul(a ^ byte, PRIME);
    b = Math.imul(b ^ byte ^ (a >>> 15), PRIME);
  }
  return [a, b].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
}
