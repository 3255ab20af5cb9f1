import { decodeJson, encodeJson, type Encoding, type WireCodec } from "../../protocol/page.js";

/** The codec of a client's messages. */
export interface ClientCodec {
  readonly encoding: Encoding;
  /** Undefined until it is loaded. */
  readonly loaded: WireCodec | undefined;
  load(): Promise<WireCodec>;
}

/** A value as it is now, for a codec that is not there yet: its owner may change it meanwhile. */
export function copyOf<T>(value: T): T {
  return decodeJson(encodeJson(value, { extended: true })) as T;
}
