import type { EventDeclarations, QueueDeclarations } from "../api/declarations.js";
import type { RunContext } from "../api/contexts.js";
import type { WorkflowContext, WorkflowOptions } from "../api/workflow-types.js";

const WORKFLOW = Symbol.for("perdure.workflow");

/** What `workflow()` leaves on the run handler for the runtime to find. */
export interface WorkflowDefinition {
  readonly run: (context: never) => unknown;
  readonly onError: unknown;
}

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
  Object.defineProperty(handler, WORKFLOW, { value: { run, onError: options.onError } });
  return handler;
}

/** The definition behind a run handler that `workflow()` made. */
export function workflowOf(handler: object): WorkflowDefinition | undefined {
  return (handler as { [WORKFLOW]?: WorkflowDefinition })[WORKFLOW];
}
