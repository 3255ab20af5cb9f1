import { ActorError } from "../../protocol/index.js";

/**
 * How many bytes of a refused body are still read and discarded. A sender cut off while it writes sees a broken
 * connection instead of the answer (seen locally); beyond this limit it has to.
 */
const DISCARD_BYTES = 1024 * 1024;

/**
 * Reads a request's body of at most `limitBytes`. An announced length counts if it is too large, and as the end of the body
 * if exactly that much has arrived; the bytes themselves are counted as they arrive.
 *
 * @throws `tooLong` when the body is larger
 * @throws {request/invalid} when the body breaks off
 */
export async function readBody(request: Request, limitBytes: number, tooLong: () => ActorError): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array(0);
  const reader = request.body.getReader();
  const announced = Number(request.headers.get("content-length") ?? Number.NaN);
  if (announced > limitBytes) {
    await discard(reader);
    throw tooLong();
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw new ActorError("request", "invalid", "The request's body broke off.", { cause });
    });
    if (done) return joined(chunks, size);
    size += value.byteLength;
    if (size > limitBytes) {
      await discard(reader);
      throw tooLong();
    }
    chunks.push(value);
    // The platform takes as long for each read as for the rest of this function.
    if (size === announced) return joined(chunks, size);
  }
}

/** The error for a message of more than `limitBytes`. */
export function incomingTooLong(limitBytes: number): ActorError {
  const message = `The message has more than ${limitBytes} bytes.`;
  return new ActorError("message", "incoming_too_long", message, { metadata: { limitBytes } });
}

async function discard(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    for (let discarded = 0; discarded < DISCARD_BYTES;) {
      const { done, value } = await reader.read();
      if (done) return;
      discarded += value.byteLength;
    }
    await reader.cancel();
  } catch {
    // The body broke off: no sender is left to answer.
  }
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = chunks;
  if (only !== undefined && chunks.length === 1) return only;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}
