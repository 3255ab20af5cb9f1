/** For tests and benchmarks; nothing in `src` imports this file. */
export { errorCodeInfo } from "./errors/error-codes.js";
export type { ErrorCodeInfo } from "./errors/error-codes.js";
export { fromJsonTree, toJsonTree } from "./codecs/json.js";
export { decodePlainCbor, encodePlainCbor } from "./codecs/wire-cbor.js";
