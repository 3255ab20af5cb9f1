/** `perdure/testing/workers`: actors under test on the real runtime, inside workerd with `@cloudflare/vitest-plugin`. */
export { abort, endSteps, evict, history, runDue, step } from "../../testing-kit/in-workerd.js";
export type {
  ActorUnderTest,
  HistoryEntry,
  StepCall,
  StepDouble,
  StepPath,
  WorkflowLook,
} from "../../testing-kit/in-workerd.js";
