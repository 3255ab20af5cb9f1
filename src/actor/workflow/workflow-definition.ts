const WORKFLOW = Symbol.for("perdure.workflow");

/** What `workflow()` leaves on the run handler for the part to find. */
export interface WorkflowDefinition {
  readonly run: (context: never) => unknown;
  readonly onError: unknown;
}

export function carryWorkflow<Handler extends object>(handler: Handler, definition: WorkflowDefinition): Handler {
  return Object.defineProperty(handler, WORKFLOW, { value: definition });
}

/** The definition behind a run handler that `workflow()` made. */
export function workflowOf(handler: object): WorkflowDefinition | undefined {
  return (handler as { [WORKFLOW]?: WorkflowDefinition })[WORKFLOW];
}
