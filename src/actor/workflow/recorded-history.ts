/** `perdure-history/1`: the history of one workflow as JSON, made from stored rows, for replays elsewhere. */
import { decodeValue, own, PACKAGE_VERSION, toJsonTree } from "../../protocol/index.js";
import { decodeEntry } from "../../workflow/index.js";
import { decodeRecord, KEYS, type WorkflowRecord } from "../storage/record.js";
import { toPortable, type PortableEntry, type Tree } from "./portable-entry.js";

/** The name and version of the format. */
export const HISTORY_FORMAT = "perdure-history/1";

/** How a recorded run stood. */
export interface RecordedRun {
  readonly status: WorkflowRecord["status"];
  /** Tagged JSON. */
  readonly output?: Tree;
  /** Tagged JSON. */
  readonly failure?: Tree;
}

/**
 * The history of one workflow. It is plain JSON, so `JSON.stringify` writes it; values in it are in the tagged encoding
 * (`["$Date", 0]`), in which JSON keeps every type.
 */
export interface RecordedHistory {
  readonly format: typeof HISTORY_FORMAT;
  /** The version of the package that recorded it. */
  readonly perdure: string;
  /** The storage format of the actor. */
  readonly storage: number;
  /** Epoch ms. */
  readonly recordedAt: number;
  readonly actor: string;
  readonly key: readonly string[];
  readonly actorId: string;
  /** When the actor was created, epoch ms. */
  readonly createdAt: number;
  readonly run: RecordedRun;
  /** In the order in which the operations began. */
  readonly entries: readonly PortableEntry[];
  /** The number of values in key and run that were replaced. */
  readonly redacted?: { readonly key?: number; readonly run?: number };
}

/**
 * Makes the history of a workflow from all rows of its actor. `recordedAt`: epoch ms.
 *
 * @throws {TypeError} when there is no actor, or it has no workflow
 * @throws {storage/corrupt} when a row cannot be read
 * @throws {storage/newer_format} when a newer release wrote them
 */
export function recordHistory(
  rows: Iterable<readonly [key: string, bytes: Uint8Array]>,
  recordedAt: number,
): RecordedHistory {
  const entries: PortableEntry[] = [];
  let actor: Uint8Array | undefined;
  for (const [key, bytes] of rows) {
    if (key === KEYS.actor) actor = bytes;
    if (key.startsWith(KEYS.entries))
      entries.push(toPortable(decodeEntry(Number(key.slice(KEYS.entries.length)), bytes)));
  }
  if (!actor) throw new TypeError("There is no actor here, so there is no history to record");
  const { format, name, key, actorId, createdAt, workflow } = decodeRecord(actor);
  if (!workflow) throw new TypeError(`The actor "${name}" has no workflow, so there is no history to record`);
  return {
    format: HISTORY_FORMAT,
    perdure: PACKAGE_VERSION,
    storage: format,
    recordedAt,
    actor: name,
    key: [...key],
    actorId,
    createdAt,
    run: recordedRun(workflow),
    entries: entries.sort((a, b) => a.seq - b.seq),
  };
}

function recordedRun(workflow: WorkflowRecord): RecordedRun {
  const { status } = workflow;
  if (status === "completed") return { status, output: toJsonTree(decodeValue(workflow.value), { extended: true }) };
  if (status !== "failed" && status !== "rolling_back") return { status };
  return { status, failure: toJsonTree(own(workflow.failure), { extended: true }) };
}
