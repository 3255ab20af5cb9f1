import { jsonCodec, type Encoding, type WireCodec } from "../../protocol/page.js";
import { copyOf, type ClientCodec } from "../config/client-codec.js";
import { ActorClientError } from "../config/errors.js";

// Chunks of their own, where a page has chunks: one that speaks JSON fetches neither.
const loadCbor = onceLoaded("cbor", () => import("../../protocol/messages/cbor-codec.js"));
const loadBare = onceLoaded("bare", () => import("../../protocol/messages/bare-codec.js"));

const LOADERS = {
  json: async (): Promise<WireCodec> => jsonCodec,
  cbor: async (): Promise<WireCodec> => (await loadCbor()).cborCodec,
  bare: async (): Promise<WireCodec> => (await loadBare()).bareCodec,
};

/** The codec of an encoding, which begins to load at once. */
export function codecOf(encoding: Encoding, load = LOADERS[encoding]): ClientCodec {
  let loaded = encoding === "json" ? jsonCodec : undefined;
  const loadIt = async (): Promise<WireCodec> => (loaded ??= await load());
  loadIt().catch(() => {});
  return {
    encoding,
    get loaded() {
      return loaded;
    },
    load: loadIt,
  };
}

/** The bytes of an actor's input, which are CBOR in every encoding. */
export async function encodeClientInput(input: unknown): Promise<Uint8Array<ArrayBuffer>> {
  const copy = copyOf(input);
  const { encodeTaggedCbor } = await loadCbor();
  return encodeTaggedCbor(copy, { extended: true });
}

/** Loads it once; again at the next call if it could not be: the chunk may be there then. */
export function onceLoaded<T>(encoding: Encoding, load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () =>
    (loading ??= load().catch((cause) => {
      loading = undefined;
      throw new ActorClientError("network_error", `The code of the encoding ${encoding} could not be loaded`, {
        cause,
      });
    }));
}
