/** Whether two arrays hold the same bytes, whatever their offsets in their buffers. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  // Four at a time if both are aligned.
  const isAligned = a.byteOffset % 4 === 0 && b.byteOffset % 4 === 0;
  const words = isAligned ? a.length >>> 2 : 0;
  const left = new Uint32Array(a.buffer, isAligned ? a.byteOffset : 0, words);
  const right = new Uint32Array(b.buffer, isAligned ? b.byteOffset : 0, words);
  for (let index = 0; index < words; index += 1) if (left[index] !== right[index]) return false;
  for (let index = words * 4; index < a.length; index += 1) if (a[index] !== b[index]) return false;
  return true;
}
