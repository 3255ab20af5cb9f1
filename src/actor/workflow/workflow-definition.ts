const WORKFLOW = Symbol.for("perdure.workflow");

/** What `workflow()` attaches to the run handler for the part. */
export interface WorkflowDefinition {
  readonly run: (context: never) => unknown;
  readonly onError: unknown;
}

export function carryWorkflow<Handler extends object>(handler: Handler, definition: WorkflowDefinition): Handler {
  return Object.defineProperty(handler, WORKFLOW, { value: definition });
}

/** The definition of a run handler made by `workflow()`. */
export function workflowOf(handler: object): WorkflowDefinition | undefined {
  return (handler as { [WORKFLOW]?: WorkflowDefinition })[WORKFLOW];
}
