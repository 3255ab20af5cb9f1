export { branchResultRows, branchStates, branchValues, type StoredResult } from "./branch-results.js";
export { ScopeContext, type WorkflowIdentity } from "./context.js";
export * from "./errors.js";
export { branchError, failuresOf, fitFailure, stepError, toBranchFailure } from "./failure.js";
export { describeError, describeThrownError, type TryStepFailure, type WorkflowError } from "./failure-report.js";
export { completedMessages, givenReply, heldMessages, holdOf, takenMessages } from "./held-messages.js";
export { Loop, type LoopBreak, type LoopContinue } from "./ops/loop.js";
export type { WaitData } from "./ops/receive.js";
export { keptWinner, losersOf } from "./ops/race.js";
export type { TryBlockCatchKind, TryBlockFailure } from "./ops/try.js";
export type { TryStepCatchKind } from "./ops/try-step.js";

export { decodeEntry, encodeEntry } from "./history/entry-codec.js";
export {
  isTerminal,
  KINDS_OF_ENTRIES,
  makeEntry,
  ownFailure,
  rowOf,
  skipStep,
  STATUSES_OF_ENTRIES,
  type Entry,
  type EntryKind,
  type EntryStatus,
  type FailedAttempt,
  type Failure,
} from "./history/entry.js";
export { History } from "./history/history.js";
export { formatLocation, nameAt, type Location } from "./history/location.js";
export type {
  AttemptInfo,
  AttemptReport,
  AttemptSession,
  EngineLog,
  FailureReport,
  InterceptedAttempt,
  MessageFilter,
  MessagePort,
  Outcome,
  StoredMessage,
  WorkflowPorts,
} from "./ports.js";
export { Restart, isOfRollback } from "./restart.js";
export { hasCheckpoint } from "./rollback.js";
export { WorkflowRun, type RunOptions } from "./run.js";
export type { OpenBranch } from "./operation.js";
export { describeThrown, fromStoredError, toStoredError, type StoredError } from "./history/stored-error.js";
