import { Decoder, Encoder } from "cbor-x";
import { OVER_LIMIT } from "./cbor/refusals.js";
import { Lowering, type CborDialect } from "./cbor-lower.js";
import { raise } from "./cbor-raise.js";
import { CborScan } from "./cbor-scan.js";
import { malformed } from "./malformed.js";
import { copyOfBytes } from "./typed-arrays.js";

/** Larger buffers than this are made to measure, and not left to cbor-x, which would keep its largest for ever. */
const MAX_POOL_BYTES = 65_536;
const POOL_BYTES = 8192;

// Instances of our own, and nothing is registered with cbor-x: its other users in this isolate notice nothing.
const encoder = new Encoder({ useRecords: false, mapsAsObjects: false, variableMapSize: true, tagUint8Array: false });
const objectDecoder = new Decoder({ useRecords: false, mapsAsObjects: true });
const mapDecoder = new Decoder({ useRecords: false, mapsAsObjects: false });

/**
 * The bytes of `value`, in a buffer of their own: cbor-x answers a view of a pool that all its users share. Throws
 * `UNENCODABLE`, `OVER_LIMIT`, or what a getter or a proxy of the value throws.
 */
export function encodeCbor(value: unknown, dialect: CborDialect, limitBytes: number): Uint8Array<ArrayBuffer> {
  const lowering = new Lowering(dialect, limitBytes);
  const tree = lowering.lower(value);
  // Left alone, cbor-x makes room for twelve bytes a character.
  if (lowering.roomBytes > MAX_POOL_BYTES / 2) usePool(lowering.roomBytes + MAX_POOL_BYTES);
  let poolBytes = Infinity;
  try {
    const pooled = encoder.encode(tree) as Uint8Array;
    poolBytes = pooled.buffer.byteLength;
    if (pooled.length > limitBytes) throw OVER_LIMIT;
    return copyOfBytes(pooled);
  } finally {
    if (poolBytes > MAX_POOL_BYTES) usePool(POOL_BYTES);
  }
}

/**
 * The value that `bytes` hold, whole and exactly once. Reads what `encodeCbor` and cbor-x make, and indefinite lists, half and
 * single floats besides. With `revive`, `["$Tag", …]` pairs become their values. Nothing of the result shares memory
 * with `bytes`. Throws `encoding/invalid` (400).
 */
export function decodeCbor(bytes: Uint8Array, revive: boolean): unknown {
  const scan = new CborScan(bytes);
  const source = scan.run();
  let tree: unknown;
  try {
    tree = (scan.needsMaps ? mapDecoder : objectDecoder).decode(source);
  } catch {
    throw malformed("cbor-x cannot read it");
  }
  return scan.isPlain && !revive ? tree : raise(tree, revive);
}

function usePool(sizeBytes: number): void {
  // A Buffer where there are Buffers: cbor-x calls methods of theirs.
  const { Buffer } = globalThis as { Buffer?: { allocUnsafeSlow(size: number): Uint8Array } };
  (encoder as Encoder & { useBuffer(pool: Uint8Array): void }).useBuffer(Buffer?.allocUnsafeSlow(sizeBytes) ?? new Uint8Array(sizeBytes));
}
