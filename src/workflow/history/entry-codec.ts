import { ActorError, decodeValue, encodeValue, own, MAX_ROW_BYTES } from "../../protocol/index.js";
import {
  makeEntry,
  ownFailure,
  type Entry,
  type EntryKind,
  type EntryStatus,
  type FailedAttempt,
  type Failure,
} from "./entry.js";
import { readEntry } from "./entry-reader.js";
import type { Segment } from "./location.js";

/** A failed attempt as it is stored. */
type StoredAttempt = readonly [attempt: number, startedAt: number, ms: number, name: string, message: string];

/** Encodes an entry as a row. Fields with their default value are left out. */
export function encodeEntry(entry: Entry): Uint8Array<ArrayBuffer> {
  const stored: Record<string, unknown> = { l: [...entry.location], k: entry.kind, s: entry.status, r: entry.rev };
  if (entry.row !== undefined) stored["q"] = entry.seq;
  if (entry.attempts > 0) stored["a"] = entry.attempts;
  if (entry.interrupted > 0) stored["i"] = entry.interrupted;
  if (entry.dueAt !== undefined) stored["d"] = entry.dueAt;
  if (entry.value !== undefined) stored["v"] = entry.value;
  if (entry.failure !== undefined) stored["f"] = entry.failure;
  if (entry.completedSeq !== undefined) stored["c"] = entry.completedSeq;
  if (entry.data !== undefined) stored["x"] = entry.data;
  // Of the times nothing depends: releases that do not know them leave them out when they write the row again.
  const { startedAt, ms } = entry;
  if (startedAt !== undefined) stored["t"] = ms === undefined ? [startedAt] : [startedAt, ms];
  if (entry.attemptStartedAt !== undefined) stored["b"] = entry.attemptStartedAt;
  if (entry.failedAttempts !== undefined) stored["h"] = entry.failedAttempts.map(toStored);
  if (entry.skipped) stored["w"] = true;
  return encodeValue(stored, { what: "entry", limitBytes: MAX_ROW_BYTES });
}

/**
 * Decodes the row with this number. The entry may share its value with it.
 *
 * @throws {storage/corrupt} when the bytes are not an entry
 */
export function decodeEntry(row: number, bytes: Uint8Array): Entry {
  return readEntry(row, bytes) ?? decodeWhole(row, bytes);
}

function decodeWhole(row: number, bytes: Uint8Array): Entry {
  const stored = storedFields(row, bytes);
  const entry = makeEntry({
    seq: (stored["q"] as number | undefined) ?? row,
    location: stored["l"] as Segment[],
    kind: stored["k"] as EntryKind,
    status: stored["s"] as EntryStatus,
    rev: stored["r"] as number,
    attempts: (stored["a"] as number | undefined) ?? 0,
    interrupted: (stored["i"] as number | undefined) ?? 0,
  });
  if (stored["q"] !== undefined) entry.row = row;
  if (stored["d"] !== undefined) entry.dueAt = stored["d"] as number;
  if (stored["v"] !== undefined) entry.value = stored["v"] as Uint8Array;
  if (stored["f"] !== undefined) entry.failure = ownFailure(stored["f"] as Failure);
  if (stored["c"] !== undefined) entry.completedSeq = stored["c"] as number;
  if (stored["x"] !== undefined) entry.data = stored["x"];
  if (stored["t"] !== undefined) {
    const [startedAt, ms] = stored["t"] as [number, number?];
    entry.startedAt = startedAt;
    if (ms !== undefined) entry.ms = ms;
  }
  if (stored["b"] !== undefined) entry.attemptStartedAt = stored["b"] as number;
  if (stored["h"] !== undefined) entry.failedAttempts = (stored["h"] as StoredAttempt[]).map(fromStored);
  if (stored["w"] === true) entry.skipped = true;
  return entry;
}

function toStored({ attempt, startedAt, ms, name, message }: FailedAttempt): StoredAttempt {
  return [attempt, startedAt, ms, name, message];
}

function fromStored([attempt, startedAt, ms, name, message]: StoredAttempt): FailedAttempt {
  return { attempt, startedAt, ms, name, message };
}

function storedFields(row: number, bytes: Uint8Array): Record<string, unknown> {
  let cause: unknown;
  try {
    const stored = own(decodeValue(bytes) as Record<string, unknown> | null);
    if (Array.isArray(stored["l"]) && typeof stored["k"] === "string") return stored;
  } catch (error) {
    cause = error;
  }
  throw new ActorError("storage", "corrupt", `An entry of the history, the row e/${row}, cannot be read`, {
    cause,
  });
}
