/** What the inspector's routes answer, by the types of those who answer. */
export type { AuditLine } from "../../actor/inspection/audit.js";
export type { InspectedConnection } from "../../actor/inspection/connections.js";
export type { InspectedHistory } from "../../actor/inspection/history.js";
export type { InspectedMessage, InspectedQueue } from "../../actor/inspection/messages.js";
export type { InspectedSchedule } from "../../actor/inspection/schedules.js";
export type { InspectedPair, InspectedState } from "../../actor/inspection/stored-values.js";
export type { InspectedSummary } from "../../actor/inspection/summary.js";
export type { InspectedRows, InspectedTable } from "../../actor/inspection/tables.js";
export type {
  WorkflowErrorView,
  WorkflowHistoryEntry as InspectedEntry,
  WorkflowParkedOn,
  WorkflowStatus,
} from "../../actor/api/workflow-status.js";
