export { testWorld, type TestWorld } from "./test-world.js";
export { exportHistories, type ExportHistoriesOptions } from "./histories/export-histories.js";
export type { RedactableValue, Redact, RedactedPlace } from "./histories/redact.js";
export type { RecordOptions } from "./histories/recording.js";
export {
  HistoryReplayError,
  replayHistories,
  type HistoryReplay,
  type ReplayHistoriesOptions,
} from "./histories/replay-histories.js";
export type { FetchAnswer, FetchCall, FetchDouble, FetchOptions, WorldFetch } from "./surroundings/outbound.js";
export type { FetchTarget } from "./surroundings/fetch-target.js";
export { testEnv } from "./surroundings/place.js";
export type { TestWorldOptions } from "./world/options.js";
export type { WorldClientOptions } from "./world/clients.js";
