import { ActorError, decodeRow, encodeValue, own, MAX_ROW_BYTES } from "../../protocol/index.js";
import type { StoredMessage } from "../../workflow/index.js";
import { readChain } from "../activation/call-chain.js";

/** Fields that a row has only if they are used. Earlier releases ignore them. */
type Extras = Pick<StoredMessage, "token" | "chain">;

/** The row `m/<id>`. The body is encoded separately, so that reading a row does not decode it. */
type Row = readonly [name: string, body: Uint8Array, createdAt: number, waitUntil: number | null, extras?: Extras];

export function encodeMessage(message: StoredMessage): Uint8Array<ArrayBuffer> {
  const { name, body, createdAt, waitUntil, token, chain } = own(message);
  const extras: Extras = { ...(token !== undefined && { token }), ...(chain && { chain }) };
  const plain = [name, body, createdAt, waitUntil ?? null] as const;
  const row: Row = Object.keys(extras).length > 0 ? [...plain, extras] : plain;
  return encodeValue(row, { what: "message", limitBytes: MAX_ROW_BYTES });
}

/** @throws {storage/corrupt} when the row is not a message */
export function decodeMessage(id: number, bytes: Uint8Array): StoredMessage {
  const row = decodeRow(bytes, 2);
  if (!Array.isArray(row) || typeof row[0] !== "string" || !(row[1] instanceof Uint8Array)) {
    throw new ActorError("storage", "corrupt", `Message ${id} cannot be read`);
  }
  const [name, body, createdAt, waitUntil, extras] = row as unknown as Row;
  const { token, chain } = own(extras ?? {});
  return own({
    id,
    name,
    body,
    createdAt,
    ...(waitUntil === null ? {} : { waitUntil }),
    ...(token === undefined ? {} : { token }),
    ...(chain && { chain: readChain(chain) }),
  });
}
