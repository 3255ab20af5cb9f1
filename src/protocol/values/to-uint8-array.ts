/**
 * Returns the bytes of a buffer or view without copying them.
 *
 * @throws TypeError for anything else
 * @example
 *     socket.addEventListener("message", ({ data }) => parse(toUint8Array(data)));
 */
export function toUint8Array(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  if (data instanceof Uint8Array) return data;
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  throw new TypeError("The argument of toUint8Array() must be an ArrayBuffer or a view of one");
}
