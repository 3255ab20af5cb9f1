/** `perdure/testing`: a world of actors in plain Node, with the typed client and a clock of its own, for tests. */
export { exportHistories, HistoryReplayError, replayHistories, testWorld } from "../testing-kit/index.js";
export type {
  ExportHistoriesOptions,
  HistoryReplay,
  RecordOptions,
  Redact,
  RedactableValue,
  RedactedPlace,
  ReplayHistoriesOptions,
  TestWorld,
  TestWorldOptions,
  WorldClientOptions,
} from "../testing-kit/index.js";
export type { RecordedHistory } from "../actor/index.js";
