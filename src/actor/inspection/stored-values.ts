import { ActorError, decodeValue, ownField } from "../../protocol/index.js";
import { userKey } from "../kv/kv-codec.js";
import { KEYS } from "../storage/record.js";
import { fingerprint } from "./fingerprint.js";
import type { InspectedActor } from "./inspected-actor.js";
import { limitOf, type ListPage } from "./paging.js";

/** Bytes of a value that a list shows. */
const SHOWN_BYTES = 4_096;

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
  const found = [...rows.list(KEYS.userValues, { start: KEYS.userValues + from, limit: limit + 1 })];
  const next = found[limit]?.[0].slice(KEYS.userValues.length);
  const items = found.slice(0, limit).map(([key, bytes]) => ({
    key: textOrBytes(userKey(key, "binary")),
    value: textOrBytes(bytes.slice(0, SHOWN_BYTES)),
    size: bytes.byteLength,
  }));
  return { items, ...(next !== undefined && { next }) };
}

function textOrBytes(bytes: Uint8Array): string | Uint8Array {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes;
  }
}
