import { ActorError } from "../../protocol/index.js";
import { brandOf, sourceOf } from "../failure.js";
import { describeError, describeStepFailure, type TryStepFailure, type WorkflowError } from "../failure-report.js";
import { Scope } from "../scope.js";
import { runInScope } from "../scope-function.js";

export type TryBlockCatchKind = "step" | "join" | "race" | "rollback";

export interface TryDefinition {
  readonly name: string;
  readonly run: (context: never) => unknown;
  readonly catch?: readonly TryBlockCatchKind[];
}

export interface TryBlockFailure {
  readonly source: "step" | "join" | "race" | "block";
  readonly name: string;
  readonly error: WorkflowError;
  readonly step?: TryStepFailure;
}

const CAUGHT_BY_DEFAULT: readonly TryBlockCatchKind[] = ["step", "join", "race"];

/**
 * `ctx.try`: a scope that returns terminal failures as results instead of throwing them.
 *
 * Entry: none; a replay rebuilds the result from the scope's entries. Plain errors thrown by the block's own code are not
 * caught. A caught failure rolls nothing back and does not fail the workflow.
 */
export function tryBlock(parent: Scope, definition: TryDefinition): Promise<unknown> {
  if (typeof definition?.run !== "function") {
    return Promise.reject(
      new ActorError("workflow", "invalid_try", `Try block "${definition?.name}" needs a run function`),
    );
  }
  const caught = definition.catch ?? CAUGHT_BY_DEFAULT;
  return parent.operate("try", definition.name, (operation) => {
    const scope = new Scope(operation.activation, operation.location, parent, true);
    runInScope(
      scope,
      (context) => definition.run(context as never),
      (result) => {
        if (!("error" in result)) return operation.fulfil({ ok: true, value: result.value });
        const failure = failureOf(definition.name, result.error, caught);
        if (failure) operation.fulfil({ ok: false, failure });
        else operation.reject(result.error);
      },
    );
    operation.delegate();
  });
}

function failureOf(
  blockName: string,
  error: unknown,
  caught: readonly TryBlockCatchKind[],
): TryBlockFailure | undefined {
  const source = sourceOf(error);
  const isRollback = brandOf(error) === "rollback";
  if (isRollback && !caught.includes("rollback")) return undefined;
  if (!source) return isRollback ? { source: "block", name: blockName, error: describeError(error) } : undefined;
  if (!isRollback && !caught.includes(source.source)) return undefined;
  const step = source.step && describeStepFailure(source.name, source.step.failure, source.step.attempts);
  return { source: source.source, name: source.name, error: describeError(error), ...(step ? { step } : {}) };
}
