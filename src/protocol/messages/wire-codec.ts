import { bareCodec } from "./bare-codec.js";
import { cborCodec } from "./cbor-codec.js";
import type { WireCodec } from "./codec.js";
import { jsonCodec } from "./json-codec.js";
import type { Encoding } from "./messages.js";

const WIRE: Readonly<Record<Encoding, WireCodec>> = { json: jsonCodec, cbor: cborCodec, bare: bareCodec };

/** The codecs of an encoding, for whom must have them all: the server. */
export function wireCodec(encoding: Encoding): WireCodec {
  return WIRE[encoding];
}
