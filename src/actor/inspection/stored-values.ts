import { ActorError, decodeValue, ownField } from "../../protocol/index.js";
import { userKey } from "../kv/kv-codec.js";
import { KEYS } from "../storage/record.js";
import { fingerprint } from "./fingerprint.js";
import type { InspectedActor } from "./inspected-actor.js";
import { limitOf, ROWS_AT_A_TIME, SHOWN_BYTES, type ListPage } from "./paging.js";

/** The stored state; `hash` changes with it. Without a state both are absent. */
export interface InspectedState {
  readonly isEnabled: boolean;
  readonly state?: unknown;
  readonly hash?: string;
}

export function stateOf({ rows, definition }: InspectedActor): InspectedState {
  const bytes = rows.get(KEYS.state);
  const isEnabled = definition?.hasState ?? bytes !== undefined;
  return { isEnabled, ...(bytes && { state: decodeValue(bytes), hash: fingerprint(bytes) }) };
}

/** A pair of `c.kv`: key and value as text if they are UTF-8, as bytes otherwise. */
export interface InspectedPair {
  readonly key: string | Uint8Array;
  readonly value: string | Uint8Array;
  /** Bytes of the value, of which a list shows at most 4,096. */
  readonly size: number;
}

/** A page of the pairs of `c.kv`, in the order of their keys; `from`: the hexadecimal digits of the first key. */
export function userValuesOf(
  { rows }: InspectedActor,
  asked: { readonly from?: string; readonly limit?: number },
): ListPage<InspectedPair> {
  const limit = limitOf(asked);
  const from: unknown = ownField(asked, "from") ?? "";
  if (typeof from !== "string" || !/^(?:[\da-f]{2})*$/.test(from))
    throw new ActorError("actor", "invalid_request", '"from" must be the hexadecimal digits of a key');
  const items: InspectedPair[] = [];
  // A few at a time: a page of the largest values would not fit in memory.
  for (let start = KEYS.userValues + from; ;) {
    const found = [...rows.list(KEYS.userValues, { start, limit: ROWS_AT_A_TIME })];
    for (const [key, bytes] of found) {
      if (items.length === limit) return { items, next: key.slice(KEYS.userValues.length) };
      items.push({
        key: textOrBytes(userKey(key, "binary")),
        value: textOrBytes(bytes.slice(0, SHOWN_BYTES)),
        size: bytes.byteLength,
      });
    }
    const last = found.at(-1);
    if (!last || found.length < ROWS_AT_A_TIME) return { items };
    start = `${last[0]}\0`;
  }
}

function textOrBytes(bytes: Uint8Array): string | Uint8Array {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes;
  }
}
