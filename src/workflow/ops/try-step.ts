import { ActorError } from "../../protocol/index.js";
import { stepError } from "../failure.js";
import { describeStepFailure, type TryStepFailure } from "../failure-report.js";
import type { Scope } from "../scope.js";
import { StepExecution, type StepDefinition } from "../step-execution.js";

export type TryStepCatchKind = TryStepFailure["kind"];

export interface TryStepDefinition extends StepDefinition {
  readonly catch?: readonly TryStepCatchKind[];
}

const CAUGHT_BY_DEFAULT: readonly TryStepCatchKind[] = ["critical", "timeout", "exhausted"];

/**
 * `ctx.tryStep`: a step that returns its terminal failure as a result instead of throwing it.
 *
 * Entry: the step's, and no other: the result is built from the stored failure, so that every replay returns the same.
 * Retries come first; kinds that are not caught reject as from `ctx.step`.
 */
export function tryStep(scope: Scope, definition: TryStepDefinition): Promise<unknown> {
  if (typeof definition?.run !== "function") {
    return Promise.reject(
      new ActorError("workflow", "invalid_step", `Step run function missing: step "${definition?.name}" needs one`),
    );
  }
  const caught = definition.catch ?? CAUGHT_BY_DEFAULT;
  return scope.operate("step", definition.name, (operation) => {
    new StepExecution(scope, operation, definition, (result) => {
      if (result.ok) return operation.fulfil({ ok: true, value: result.value });
      const failure = describeStepFailure(definition.name, result.failure, result.attempts);
      if (failure && caught.includes(failure.kind)) operation.fulfil({ ok: false, failure });
      else operation.reject(stepError(definition.name, result.failure, result.attempts));
    }).start();
  });
}
