import type { RunContext } from "../api/contexts.js";
import type { EventDeclarations, QueueDeclarations } from "../api/declarations.js";
import type { WorkflowContext, WorkflowOptions } from "../api/workflow-types.js";
import { carryPart } from "../definition/part-carrier.js";
import { carryWorkflow } from "./workflow-definition.js";
import { WORKFLOW_PART } from "./workflow-part.js";

/**
 * Makes a durable workflow the background work of an actor: `run: workflow(async (ctx) => { … })`.
 *
 * The function starts when the actor is created. After a crash, a deploy or an eviction it is called again from its
 * first line, and everything it awaits through `ctx` answers from history until it reaches what has not happened yet.
 * When it returns or fails, that is stored and it is never called again.
 */
export function workflow<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations>(
  run: (ctx: WorkflowContext<S, CP, CS, V, I, DB, E, Q>) => Promise<unknown>,
  options: WorkflowOptions<RunContext<S, CP, CS, V, I, DB, E, Q>> = {},
): (c: RunContext<S, CP, CS, V, I, DB, E, Q>) => Promise<void> {
  if (typeof run !== "function") throw new TypeError("workflow() takes a function");
  const handler = (): Promise<void> => Promise.reject(new Error("A workflow is run by its actor, not called"));
  return carryPart(carryWorkflow(handler, { run, onError: options.onError }), WORKFLOW_PART);
}
