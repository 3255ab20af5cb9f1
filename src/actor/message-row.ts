import { ActorError, decodeValue, encodeValue, MAX_VALUE_BYTES, own } from "../protocol/index.js";
import type { StoredMessage } from "../workflow/index.js";

/** A message as the row `m/<id>` holds it; its body is encoded already, so that reading a row decodes none. */
type Row = readonly [name: string, body: Uint8Array, createdAt: number, waitUntil: number | null];

export function encodeMessage(message: StoredMessage): Uint8Array<ArrayBuffer> {
  const { name, body, createdAt, waitUntil } = own(message);
  const row: Row = [name, body, createdAt, waitUntil ?? null];
  return encodeValue(row, { what: "message", limitBytes: MAX_VALUE_BYTES + 90_000 });
}

/** @throws storage/corrupt */
export function decodeMessage(id: number, bytes: Uint8Array): StoredMessage {
  const row = decodeValue(bytes);
  if (!Array.isArray(row) || typeof row[0] !== "string" || !(row[1] instanceof Uint8Array)) {
    throw new ActorError("storage", "corrupt", `Message ${id} cannot be read`);
  }
  const [name, body, createdAt, waitUntil] = row as unknown as Row;
  return own({ id, name, body, createdAt, ...(waitUntil === null ? {} : { waitUntil }) });
}
