/** What tests inside workerd use. It is no part of `index.ts`, which is for Node: it imports the platform. */
export { abort, evict } from "./workers/ends.js";
export type { ActorUnderTest } from "./workers/object-of.js";
export { history } from "./workers/history.js";
export { runDue } from "./workers/run-due.js";
export { endSteps, step } from "./workers/steps.js";
export type { HistoryEntry, WorkflowLook } from "./control/workflow-look.js";
export type { StepCall } from "./doubles/step-call.js";
export type { StepDouble } from "./doubles/step-double.js";
export type { StepPath } from "./doubles/step-path.js";
