import { own } from "../protocol/index.js";
import { EntryInProgressError, HistoryDivergedError } from "./errors.js";
import type { Scope } from "./scope.js";

export type ScopeResult = { readonly value: unknown } | { readonly error: unknown };

/**
 * Runs a scope's function: an iteration, a branch, a try block. Called inside a turn: the scope counts as in user code at
 * once, and the function is called after the turn. Calls `settled` once, inside a turn, unless the scope was evicted or
 * misused, or does not match the history.
 */
export function runInScope(
  scope: Scope,
  run: (context: object) => unknown,
  settled: (result: ScopeResult) => void,
): void {
  const { activation } = scope;
  activation.countUserCode(1);
  activation.afterTurn(() => {
    let returned: unknown;
    try {
      returned = run(activation.createContext(scope as never));
    } catch (error) {
      activation.turn(() => leave(scope, own({ error }), settled));
      return;
    }
    Promise.resolve(returned).then(
      (value) => activation.turn(() => leave(scope, own({ value }), settled)),
      (error: unknown) => activation.turn(() => leave(scope, own({ error }), settled)),
    );
  });
}

function leave(scope: Scope, result: ScopeResult, settled: (result: ScopeResult) => void): void {
  if (scope.isEvicted) return;
  const { activation } = scope;
  if (afterEffects(scope, result, (final) => leave(scope, final, settled))) return;
  const wasInOperation = scope.current !== undefined;
  const problem = scope.end();
  if (problem instanceof HistoryDivergedError) return activation.diverge(problem);
  if (problem instanceof EntryInProgressError) return activation.failRun(problem);
  if (!wasInOperation) activation.countUserCode(-1);
  settled(result);
}

/** False if the scope's function left no effects open. Otherwise calls `next`, inside a turn, when they have ended. */
export function afterEffects(scope: Scope, result: ScopeResult, next: (result: ScopeResult) => void): boolean {
  const begun = scope.effectsSettled();
  if (!begun) return false;
  const { activation } = scope;
  begun.then(
    () => activation.turn(() => next(result)),
    (error: unknown) => activation.turn(() => next("error" in result ? result : { error })),
  );
  return true;
}
