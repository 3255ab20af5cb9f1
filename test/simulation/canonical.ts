import { decodeValue } from "../../src/protocol/index.js";
import { decodeEntry, type Entry } from "../../src/workflow/internal.js";
import type { WorldActor } from "../../src/testing/index.js";

/**
 * What an actor has come to, in a form that does not depend on how often it was interrupted: its state, how its
 * workflow ended, and each recorded result. Counters, times, interrupted attempts and marks of passed sleeps are left out.
 */
export function canonical(actor: WorldActor): unknown {
  const rows = actor.store.dump();
  const record = decode(rows.get("a")) as { workflow?: { times?: unknown; acts?: unknown } } | undefined;
  const { times: _, acts: __, ...workflow } = record?.workflow ?? {};
  const stored = [...rows]
    .filter(([key]) => key.startsWith("e/"))
    .map(([key, bytes]) => decodeEntry(Number(key.slice(2)), bytes));
  const places = new Map(stored.map(({ seq, location }) => [seq, location.join("/")]));
  const entries = stored
    // A message that a client sent twice is one more receive, and nothing else.
    .filter((entry) => !(entry.kind === "message" && entry.location[0] === "client"))
    .flatMap(eachResult)
    .map((entry) => ({
      location: entry.location,
      kind: entry.kind,
      // Whether the end of a wait was marked, or is shown by what comes after it, depends on the commits in between.
      outcome:
        entry.kind === "sleep" || (entry.kind === "message" && entry.value === undefined) ? "waited" : entry.status,
      value: entry.kind === "message" ? messageBodies(entry.value) : entry.value && decodeValue(entry.value),
      failure: withPlaces(entry.failure, places),
    }))
    .map((entry) => (entry.location[0] === -1 ? { ...entry, location: [-1] } : entry))
    .sort((a, b) => JSON.stringify(a.location).localeCompare(JSON.stringify(b.location)));
  return {
    exists: record !== undefined,
    workflow: record?.workflow && withPlaces(workflow, places),
    state: decode(rows.get("s")),
    entries,
    lease: actor.holdsLease,
    alarm: actor.store.alarmAt,
  };
}

/** A failure names the operation that it came from by its counter, which depends on interruptions: here by its place. */
function withPlaces(value: unknown, places: ReadonlyMap<number, string>): unknown {
  if (Array.isArray(value)) return value.map((each) => withPlaces(each, places));
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  const isFailure = "kind" in value && "error" in value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      isFailure && key === "seq" ? (places.get(each as number) ?? "nowhere") : withPlaces(each, places),
    ]),
  );
}

/** Which results share a row depends on the commits in between. */
function eachResult(entry: Entry): Entry[] {
  if (entry.kind !== "branch_results") return [entry];
  const results = entry.data as [place: number, { v?: Uint8Array; f?: Entry["failure"] }][];
  return results.map(([place, { v, f }]) => ({
    ...entry,
    location: [...entry.location.slice(0, -1), place],
    ...(v ? { value: v } : {}),
    ...(f ? { failure: f } : {}),
  }));
}

/** Bodies only: ids and times of messages depend on when an interrupted step sent them. */
function messageBodies(value: Uint8Array | undefined): unknown {
  return value && (decodeValue(value) as { body: Uint8Array }[]).map((message) => decodeValue(message.body));
}

function decode(bytes: Uint8Array | undefined): unknown {
  return bytes && decodeValue(bytes);
}
