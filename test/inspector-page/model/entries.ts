import type { InspectedEntry } from "../../../src/inspector-page/internal.js";

let id = 0;

/** An entry as the route shows it. */
export function entryAt(location: InspectedEntry["location"], more: Partial<InspectedEntry> = {}): InspectedEntry {
  id += 1;
  return {
    id: String(id),
    kind: "step",
    location,
    status: "completed",
    attempts: 1,
    interrupted: 0,
    ...more,
  };
}
