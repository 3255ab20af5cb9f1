export { workflow } from "../actor/index.js";
export {
  CancelledError,
  CriticalError,
  EntryInProgressError,
  EvictedError,
  HistoryDivergedError,
  JoinError,
  MessageWaitError,
  RaceError,
  RollbackCheckpointError,
  RollbackError,
  SleepError,
  StepExhaustedError,
  StepFailedError,
} from "../workflow/index.js";
export type {
  WorkflowBranchContextOf,
  WorkflowContext,
  WorkflowContextOf,
  WorkflowLoopContextOf,
  WorkflowStepConfig,
  WorkflowStepContext,
  WorkflowStepContextOf,
} from "../actor/index.js";
