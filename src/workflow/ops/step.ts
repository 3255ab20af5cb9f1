import { ActorError } from "../../protocol/index.js";
import { stepError } from "../failure.js";
import type { Scope } from "../scope.js";
import { StepExecution, type StepDefinition } from "../step-execution.js";

/**
 * `ctx.step`: runs its callback until it succeeds once, and returns the recorded value from then on.
 *
 * Entry: `step`, written when an attempt ends. Replay: the recorded value or failure; the callback never runs again.
 * Live: `StepExecution`. Rejects with StepExhaustedError, CriticalError or RollbackError.
 */
export function step(scope: Scope, definition: StepDefinition): Promise<unknown> {
  if (typeof definition?.run !== "function") {
    return Promise.reject(
      new ActorError("workflow", "invalid_step", `Step run function missing: step "${definition?.name}" needs one`),
    );
  }
  return scope.operate("step", definition.name, (operation) => {
    new StepExecution(scope, operation, definition, (result) => {
      if (result.ok) operation.fulfil(result.value);
      else operation.reject(stepError(definition.name, result.failure, result.attempts));
    }).start();
  });
}
