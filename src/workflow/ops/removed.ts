import { ActorError } from "../../protocol/index.js";
import type { EntryKind } from "../history/entry.js";
import { NO_ORDER } from "../history/history.js";
import type { Scope } from "../scope.js";

const KINDS: ReadonlySet<string> = new Set([
  "step",
  "loop",
  "sleep",
  "message",
  "rollback_checkpoint",
  "join",
  "race",
  "removed",
  "version_check",
  "try",
]);

/**
 * `ctx.removed`: a placeholder for an operation that the code no longer has, so that histories which contain it still match.
 *
 * Entry: the recorded one, or a `removed` entry in a new run or for a try block, which has none. Covers every receive of its
 * name. Exempt from the order of its scope. A recorded entry of another kind is a divergence.
 */
export function removed(scope: Scope, name: string, originalKind: EntryKind | "try"): Promise<void> {
  if (!KINDS.has(originalKind)) {
    return Promise.reject(
      new ActorError(
        "workflow",
        "invalid_removed",
        `removed("${name}"): "${String(originalKind)}" is not a kind of operation`,
      ),
    );
  }
  const settled = scope.operate(
    "removed",
    name,
    (operation) => {
      const { activation } = operation;
      if (!operation.entry && !activation.collector) {
        const entry = activation.newEntry("removed", operation.location);
        entry.data = { kind: originalKind, ...NO_ORDER };
        activation.recordLater(entry);
      }
      if (!activation.collector) activation.letGo(operation.location);
      operation.fulfil(undefined);
    },
    originalKind,
  );
  return settled as Promise<void>;
}
