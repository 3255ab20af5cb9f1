/** For tests of the engine itself; nothing in `src` imports this file. */
export { Activation } from "./activation.js";
export { decodeEntry, encodeEntry } from "./history/entry-codec.js";
export { readEntry } from "./history/entry-reader.js";
export type { Entry, EntryKind, EntryStatus } from "./history/entry.js";
export { History } from "./history/history.js";
export { formatLocation } from "./history/location.js";
export { Pace } from "./pace.js";
export { retryDelayMs, retryPolicy } from "./retry.js";
export { Scope } from "./scope.js";
export { WaitHeap } from "./history/wait-heap.js";
export { fromStoredError, toStoredError } from "./history/stored-error.js";
export { fitFailure } from "./failure.js";
