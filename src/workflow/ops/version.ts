import { ActorError } from "../../protocol/index.js";
import { NO_ORDER } from "../history/history.js";
import type { Scope } from "../scope.js";

/**
 * `ctx.getVersion`: a version gate: which version of the code this run follows from here on.
 *
 * Entry: `version_check` with the version, written by the next commit. If not recorded: 1 if the scope has recorded operations
 * that the code has not met (it ran before the gate existed), else `latest`. It has no place in the order of its scope: a gate
 * deployed before a wait does not end the wait.
 */
export function getVersion(scope: Scope, name: string, latest: number): Promise<number> {
  if (!Number.isInteger(latest) || latest < 1) {
    return Promise.reject(
      new ActorError(
        "workflow",
        "invalid_version",
        `getVersion("${name}"): the latest version must be an integer of at least 1`,
      ),
    );
  }
  return scope.operate("version_check", name, (operation) => {
    const recorded = operation.entry?.data as { version: number } | undefined;
    if (recorded) return operation.fulfil(recorded.version);
    const version = scope.hasUnmet() ? 1 : latest;
    const { activation } = operation;
    if (!activation.collector) {
      const entry = activation.newEntry("version_check", operation.location);
      entry.data = { version, ...NO_ORDER };
      activation.recordLater(entry);
    }
    operation.fulfil(version);
  }) as Promise<number>;
}
