import type { Batch } from "../ports.js";
import { KEYS } from "../storage/record.js";

/** What operators are told of, by the start of the key of a row. */
const KINDS: readonly (readonly [prefix: string, what: string])[] = [
  [KEYS.state, "state"],
  [KEYS.entries, "history"],
  [KEYS.messages, "queue"],
  [KEYS.deadlines, "schedules"],
  [KEYS.connections, "connections"],
  [KEYS.userValues, "kv"],
  [KEYS.part("inspector", ""), "audit"],
  [KEYS.actor, "summary"],
];

/** What a commit changed, by name and without values; undefined if it is nothing that operators see. */
export function changesIn({ puts, deletes }: Batch): string | undefined {
  const changed = new Set<string>();
  for (const key of [...puts.keys(), ...deletes]) {
    const kind = KINDS.find(([prefix]) => key === prefix || (prefix.endsWith("/") && key.startsWith(prefix)));
    if (kind) changed.add(kind[1]);
  }
  return changed.size === 0 ? undefined : JSON.stringify({ changed: [...changed] });
}
