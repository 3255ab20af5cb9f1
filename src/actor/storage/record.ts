import {
  ActorError,
  decodeValue,
  encodeValue,
  NEWEST_STORAGE_FORMAT,
  own,
  MAX_ROW_BYTES,
} from "../../protocol/index.js";
import type { Failure } from "../../workflow/index.js";

/**
 * Storage keys. Prefixes are one letter, so that they are small and sort together (docs/internals/commit.md, Storage).
 */
export const KEYS = {
  actor: "a",
  state: "s",
  lease: "l",
  entry: (row: number): string => `e/${row}`,
  entries: "e/",
  message: (id: number): string => `m/${id}`,
  messages: "m/",
  failure: (seq: number): string => `f/${seq}`,
  failures: "f/",
  connection: (id: string): string => `c/${id}`,
  connections: "c/",
  deadline: (id: string): string => `d/${id}`,
  deadlines: "d/",
  cronHistory: (page: number, name: string): string => `h/${page}/${name}`,
  /** Rows of a part without a letter of its own. */
  part: (part: string, id: string | number): string => `p/${part}/${id}`,
  /** `c.kv`. The bytes of the user's key follow in hexadecimal. */
  userValues: "u/",
} as const;

/** Where a workflow stands, as it is stored; failures are as they were decoded, so that their readers take own members only. */
export type WorkflowRecord = RunTimes &
  (
    | { readonly status: "running"; readonly paused?: PausedRecord }
    /** `cancels`: it is undone because it was cancelled, and ends so. */
    | { readonly status: "rolling_back"; readonly failure: Failure; readonly cancels?: true }
    | { readonly status: "completed"; readonly value: Uint8Array }
    | { readonly status: "failed"; readonly failure: Failure; readonly rollbackErrors?: readonly unknown[] }
    | { readonly status: "cancelled"; readonly rollbackErrors?: readonly unknown[] }
  );

/** Since when a run is paused, epoch ms, and why. */
export type PausedRecord = readonly [since: number, reason?: string];

/** When a run began, epoch ms, and ms from there to its end. Absent if an earlier release began it. */
export interface RunTimes {
  readonly times?: readonly [startedAt: number, ms?: number];
  /** What owners last did, the oldest first: when, epoch ms, what, and who if they said. For people. */
  readonly acts?: readonly (readonly [at: number, act: string, by?: string])[];
}

/** The row of the actor itself, under the key `a`. The actor exists if the row does. */
export interface ActorRecord {
  readonly format: number;
  readonly name: string;
  readonly key: readonly string[];
  readonly actorId: string;
  readonly createdAt: number;
  readonly workflow?: WorkflowRecord;
  /** True while the actor is being destroyed, when it serves nothing. */
  readonly destroyed?: boolean;
}

/** Which actor a line of the log is about. */
export function whoOf({ name, key, actorId }: ActorRecord): Readonly<Record<string, unknown>> {
  return { actor: name, key, actorId };
}

export function encodeRecord(record: ActorRecord): Uint8Array<ArrayBuffer> {
  return encodeValue({ ...record }, { what: "actor", limitBytes: MAX_ROW_BYTES });
}

/**
 * @throws {storage/newer_format} when a later release wrote it; nothing is changed (COMMIT-10)
 * @throws {storage/corrupt} when it cannot be read
 */
export function decodeRecord(bytes: Uint8Array, newest = NEWEST_STORAGE_FORMAT): ActorRecord {
  const decoded = decodeValue(bytes) as ActorRecord;
  const record = own(decoded);
  if (typeof record.format !== "number")
    throw new ActorError("storage", "corrupt", "The actor's record cannot be read");
  if (record.format > newest) {
    throw new ActorError(
      "storage",
      "newer_format",
      `This actor was written in storage format ${record.format}; this release reads up to ${newest}. Deploy the newer release again`,
    );
  }
  return record.workflow === undefined ? record : own({ ...record, workflow: own(record.workflow) });
}
