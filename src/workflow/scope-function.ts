import { own } from "../protocol/index.js";
import { EntryInProgressError, HistoryDivergedError } from "./errors.js";
import type { Scope } from "./scope.js";

export type ScopeResult = { readonly value: unknown } | { readonly error: unknown };

/**
 * Runs a scope's function: an iteration, a branch, a try block. Called inside a turn; the scope counts as in user code
 * from here on, the function is called when the turn has ended. `settled` is called inside a turn, once, unless the
 * scope was evicted, misused or does not match the history.
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

/** False if nothing that the scope's function began is open. Else `next` is called, in a turn, when it has ended. */
export function afterEffects(scope: Scope, result: ScopeResult, next: (result: ScopeResult) => void): boolean {
  const begun = scope.effects.settled();
  if (!begun) return false;
  const { activation } = scope;
  begun.then(
    () => activation.turn(() => next(result)),
    (error: unknown) => activation.turn(() => next("error" in result ? result : { error })),
  );
  return true;
}
