export { actor } from "./definition/actor.js";
export { DEADLINE_IDS, storedDeadlines, type DeadlineRow } from "./storage/deadlines.js";
export { decodeMessage } from "./queue/message-row.js";
export { describeCronJob } from "./schedule/cron-api.js";
export { describeSchedule } from "./schedule/schedule-api.js";
export { describeWorkflow, isInFlight, mayRun } from "./activation/workflow-outcome.js";
export { isResting } from "./storage/next-wake.js";
export { event, queue, type ActionInputSchemas } from "./api/declarations.js";
export type * from "./api/schedule-types.js";
export type * from "./api/declarations.js";
export type * from "./api/database-types.js";
export { databaseProvider } from "./sql/database-part.js";
export { db } from "./sql/db.js";
export type * from "./api/client-types.js";
export type * from "./api/connection-types.js";
export { ObjectEvents } from "./lifecycle/object-events.js";
export type * from "./ports.js";
export type * from "./api/hook-contexts.js";
export type * from "./api/kv-types.js";
export { decodeRecord, KEYS, type ActorRecord } from "./storage/record.js";
export { objectInspector } from "./inspection/inspector.js";
export type { ObjectInspector } from "./activation/object-inspector.js";
export type { InspectorConfig, InspectorTab, ActorOptions } from "./api/actor-options.js";
export { Registry, setup, type RegistryConfig } from "./definition/registry.js";
export { defineRunHandler, type RunMetadata } from "./definition/run-metadata.js";
export {
  DEFAULT_MIGRATION_TABLE_NAME,
  migrations,
  type Migration,
  type MigrationDatabase,
  type MigrationsOptions,
} from "./sql/schema-migrations.js";
export type * from "./api/queue-types.js";
export type * from "./api/raw-socket-types.js";
export type { ScheduledEvent, ScheduledFireInfo } from "./api/schedule-types.js";
export type * from "./api/contexts.js";
export type {
  WorkflowActivity,
  WorkflowBranchView,
  WorkflowErrorView,
  WorkflowFailedAttempt,
  WorkflowHistoryEntry,
  WorkflowActOptions,
  WorkflowCancelOptions,
  WorkflowDryRun,
  WorkflowHistoryOptions,
  WorkflowPlan,
  WorkflowParkedOn,
  WorkflowStatus,
} from "./api/workflow-status.js";
export { snapshot } from "./state/snapshot.js";
export { HISTORY_FORMAT, recordHistory, type RecordedHistory, type RecordedRun } from "./workflow/recorded-history.js";
export type { PortableEntry, Tree } from "./workflow/portable-entry.js";
export { checkHistory, replayHistory, type ReplayHost, type Verdict } from "./workflow/replayed-history.js";
export { workflow } from "./workflow/workflow.js";
export { describeHistory } from "./workflow/workflow-view.js";
export type * from "./api/workflow-types.js";
