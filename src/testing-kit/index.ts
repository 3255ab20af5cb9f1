export { crashEverywhere, type CrashEverywhereOptions, type CrashEverywhereReport } from "./crash-everywhere.js";
export { CrashEverywhereError } from "./crashes/crash-finding.js";
export type { Mishap } from "./crashes/crash-moment.js";
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
export type { CrashPoint } from "./control/control.js";
export type { PlannedCrash } from "./control/planned-crashes.js";
export type { LogFilter, QueuedMessage } from "./control/look.js";
export type { LogLine } from "./control/log-lines.js";
export type { StoredSchedule } from "./control/stored-actor.js";
export type { ActorTarget } from "./world/actor-of.js";
export type { HistoryEntry, WorkflowLook } from "./control/workflow-look.js";
export type { StepCall } from "./doubles/step-call.js";
export type { StepDouble } from "./doubles/step-double.js";
export type { StepPath } from "./doubles/step-path.js";
