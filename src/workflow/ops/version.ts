import { ActorError } from "../../protocol/index.js";
import { NO_ORDER } from "../history/history.js";
import type { Scope } from "../scope.js";

/**
 * `ctx.getVersion`: which version of the code this run is to follow from here on.
 *
 * Entry: `version_check` with the answer, written by the next commit. Not recorded yet: 1 if the scope holds something
 * that this code has not met (it was running before the gate existed), else `latest`. It has no place in the
 * order of its scope: one that is deployed in front of a wait ends nothing.
 */
export function getVersion(scope: Scope, name: string, latest: number): Promise<number> {
  if (!Number.isInteger(latest) || latest < 1) {
    return Promise.reject(
      new ActorError(
        "workflow",
        "invalid_version",
        `getVersion("${name}"): the latest version is an integer of at least 1`,
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
