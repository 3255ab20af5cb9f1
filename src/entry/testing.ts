/** `perdure/testing`: a world of actors in plain Node, with the typed client and a clock of its own, for tests. */
export { exportHistories, HistoryReplayError, replayHistories, testEnv, testWorld } from "../testing-kit/index.js";
export type {
  ExportHistoriesOptions,
  FetchAnswer,
  FetchCall,
  FetchDouble,
  FetchOptions,
  FetchTarget,
  HistoryReplay,
  RecordOptions,
  Redact,
  RedactableValue,
  RedactedPlace,
  ReplayHistoriesOptions,
  TestWorld,
  TestWorldOptions,
  WorldClientOptions,
  WorldFetch,
} from "../testing-kit/index.js";
export type { RecordedHistory } from "../actor/index.js";
