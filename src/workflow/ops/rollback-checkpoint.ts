import type { Scope } from "../scope.js";

/**
 * `ctx.rollbackCheckpoint`: from here on, steps of this scope and the scopes in it may have a `rollback`. It limits nothing
 * else: a failed workflow rolls back every completed step that has one, whatever checkpoints lie in between (FLOW-21).
 *
 * Entry: `rollback_checkpoint`, written by the next commit.
 */
export function rollbackCheckpoint(scope: Scope, name: string): Promise<void> {
  return scope.operate("rollback_checkpoint", name, (operation) => {
    const { activation } = operation;
    if (!operation.entry) activation.complete(activation.newEntry("rollback_checkpoint", operation.location));
    scope.setCheckpoint();
    operation.fulfil(undefined);
  }) as Promise<void>;
}
