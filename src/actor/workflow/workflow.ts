import type { RunContext } from "../api/contexts.js";
import type { EventDeclarations, QueueDeclarations } from "../api/declarations.js";
import type { WorkflowContext, WorkflowOptions } from "../api/workflow-types.js";
import { carryPart } from "../definition/part-carrier.js";
import { carryWorkflow } from "./workflow-definition.js";
import { WORKFLOW_PART } from "./workflow-part.js";

/**
 * Makes a function the durable workflow of an actor.
 *
 * It starts when the actor is created. After a crash, a deploy or an eviction it is called again from its first line, and
 * every operation of `ctx` that has completed returns its recorded result. Its result or failure is stored, and it is not
 * called again.
 *
 * @throws {TypeError} when `run` is not a function
 * @example
 *     const order = actor({
 *       run: workflow(async (ctx) => {
 *         const id = await ctx.step("charge", () => charge());
 *         await ctx.sleep("cool-off", 60_000);
 *         await ctx.step("ship", () => ship(id));
 *       }),
 *       actions: {},
 *     });
 */
export function workflow<S, CP, CS, V, I, DB, E extends EventDeclarations, Q extends QueueDeclarations>(
  // Of a function that may return anything the compiler does not ask what it returns, and so not for the type of the actor whose
  // steps it comes from. `Promise<unknown>` would make it ask.
  run: (ctx: WorkflowContext<S, CP, CS, V, I, DB, E, Q>) => any,
  options: WorkflowOptions<RunContext<S, CP, CS, V, I, DB, E, Q>> = {},
): (c: RunContext<S, CP, CS, V, I, DB, E, Q>) => Promise<void> {
  if (typeof run !== "function") throw new TypeError("workflow() takes a function");
  const handler = (): Promise<void> => Promise.reject(new Error("A workflow is run by its actor, not called"));
  return carryPart(carryWorkflow(handler, { run, onError: options.onError }), WORKFLOW_PART);
}
