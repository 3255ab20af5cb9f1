/**
 * Entries as a history file has them: plain JSON that people can read and compare, values in the tagged encoding. What only
 * storage needs stays out of it: numbers of rows, tokens of senders, replies.
 */
import { decodeValue, encodeValue, fromJsonTree, has, own, ownField, toJsonTree } from "../../protocol/index.js";
import {
  holdOf,
  KINDS_OF_ENTRIES,
  makeEntry,
  ownFailure,
  STATUSES_OF_ENTRIES,
  takenMessages,
  type Entry,
  type EntryKind,
  type EntryStatus,
  type Failure,
  type Location,
  type StoredResult,
} from "../../workflow/index.js";

/** A value as tagged JSON. */
export type Tree = unknown;

/** How a branch ended. */
export type PortableResult = { readonly value: Tree } | { readonly failure: Tree };

export interface PortableMessage {
  readonly id: number;
  readonly name: string;
  readonly body: Tree;
  /** Epoch ms. */
  readonly createdAt: number;
}

/** Fields with their default value are left out. */
export interface PortableEntry {
  readonly at: Location;
  readonly kind: EntryKind;
  readonly status: EntryStatus;
  readonly seq: number;
  readonly rev: number;
  readonly completedSeq?: number;
  readonly attempts?: number;
  readonly interrupted?: number;
  /** Epoch ms. */
  readonly dueAt?: number;
  /** When it began, epoch ms, and how long it took. Nothing depends on them. */
  readonly startedAt?: number;
  readonly ms?: number;
  readonly value?: Tree;
  readonly failure?: Tree;
  /** Of a receive. */
  readonly messages?: readonly PortableMessage[];
  /** Of a receive that takes completable messages: the ids of those that were completed. */
  readonly completed?: readonly number[];
  /** Of a loop; the state of an open one. */
  readonly iteration?: number;
  readonly state?: Tree;
  /** Of a join or race. */
  readonly branches?: readonly string[];
  readonly winner?: string;
  readonly results?: readonly (readonly [branch: string | number, result: PortableResult])[];
  /** Of a version gate or a removed operation. */
  readonly data?: Tree;
  /** The number of values in it that were replaced. */
  readonly redacted?: number;
}

const TAGGED = { extended: true } as const;
/** The largest value that an entry may hold, with room for what held it before. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Names and numbers that lead to an entry. */
const MAX_LEVELS = 1_000;

export function toPortable(entry: Entry): PortableEntry {
  const { location, kind, status, seq, rev, completedSeq, attempts, interrupted, dueAt, startedAt, ms, failure } =
    entry;
  return {
    at: [...location],
    kind,
    status,
    seq,
    rev,
    ...(completedSeq !== undefined && { completedSeq }),
    ...(attempts > 0 && { attempts }),
    ...(interrupted > 0 && { interrupted }),
    ...(dueAt !== undefined && { dueAt }),
    ...(startedAt !== undefined && { startedAt }),
    ...(ms !== undefined && { ms }),
    ...recordedValue(entry),
    ...(failure && { failure: toJsonTree(failure, TAGGED) }),
    ...recordedData(entry),
  };
}

function recordedValue(entry: Entry): Partial<PortableEntry> {
  if (entry.value === undefined) return {};
  if (entry.kind !== "message") return { value: treeOf(entry.value) };
  const messages = takenMessages(entry).map((taken) => {
    const { id, name, body, createdAt } = own(taken);
    return { id, name, body: treeOf(body), createdAt };
  });
  return { messages };
}

function recordedData(entry: Entry): Partial<PortableEntry> {
  const { kind, data } = entry;
  if (data === undefined) return {};
  const fields = own(data as Record<string, unknown>);
  switch (kind) {
    case "loop":
      return {
        iteration: fields["iteration"] as number,
        // One that has ended keeps no state.
        ...(fields["state"] !== undefined && { state: treeOf(fields["state"] as Uint8Array) }),
      };
    case "join":
    case "race": {
      const results = Object.entries((fields["results"] ?? {}) as Record<string, StoredResult>);
      return {
        branches: fields["branches"] as string[],
        ...(fields["winner"] !== undefined && { winner: fields["winner"] as string }),
        ...(results.length > 0 && {
          results: results.map(([name, result]) => [name, portableResult(result)] as const),
        }),
      };
    }
    case "branch_results":
      return {
        results: (data as [number, StoredResult][]).map(([at, result]) => [at, portableResult(result)] as const),
      };
    case "message":
      // What a wait keeps besides is for people.
      return holdOf(entry) ? { completed: [...(holdOf(entry)?.completed ?? [])] } : {};
    default:
      return { data: toJsonTree(data, TAGGED) };
  }
}

function portableResult(result: StoredResult): PortableResult {
  return has(result, "v") ? { value: treeOf(result.v) } : { failure: toJsonTree(ownField(result, "f"), TAGGED) };
}

function treeOf(bytes: Uint8Array): Tree {
  return toJsonTree(decodeValue(bytes), TAGGED);
}

/**
 * Reads an entry back.
 *
 * @throws {TypeError} when a field is missing or not what it must be
 * @throws {encoding/invalid} when a value is not in the tagged encoding
 */
export function fromPortable(given: unknown): Entry {
  const from = own(object(given, "an entry")) as unknown as PortableEntry;
  const entry = makeEntry({
    seq: count(from, "seq"),
    location: locationOf(from.at),
    kind: oneOf(KINDS_OF_ENTRIES, from.kind, "kind"),
    status: oneOf(STATUSES_OF_ENTRIES, from.status, "status"),
    rev: count(from, "rev"),
    attempts: count(from, "attempts", 0),
    interrupted: count(from, "interrupted", 0),
  });
  if (from.dueAt !== undefined) entry.dueAt = time(from.dueAt);
  if (from.startedAt !== undefined) entry.startedAt = time(from.startedAt);
  if (from.ms !== undefined) entry.ms = time(from.ms);
  if (from.completedSeq !== undefined) entry.completedSeq = count(from, "completedSeq");
  if (from.failure !== undefined) entry.failure = failureOf(from.failure);
  else if (entry.status === "failed") throw new TypeError("one that failed must have a failure");
  const value = storedValue(from);
  if (value) entry.value = value;
  const data = storedData(from);
  if (data !== undefined) entry.data = data;
  return entry;
}

function storedValue(from: PortableEntry): Uint8Array | undefined {
  if (from.messages === undefined) return Object.hasOwn(from, "value") ? bytesOf(from.value) : undefined;
  const messages = array(from.messages, "messages").map((given) => {
    const message = own(object(given, "a message"));
    if (typeof message["name"] !== "string") throw new TypeError('"name" of a message must be a string');
    return {
      id: count(message, "id"),
      name: message["name"],
      body: bytesOf(message["body"]),
      createdAt: time(message["createdAt"]),
    };
  });
  return encodeValue(messages, { limitBytes: MAX_BYTES });
}

function storedData(from: PortableEntry): unknown {
  switch (from.kind) {
    case "loop":
      // Earlier releases kept nothing of one that has ended.
      if (from.status === "completed" && from.iteration === undefined) return undefined;
      if (from.status !== "completed" && !Object.hasOwn(from, "state"))
        throw new TypeError("an open loop must have a state");
      return {
        iteration: count(from, "iteration"),
        ...(Object.hasOwn(from, "state") && { state: bytesOf(from.state) }),
      };
    case "join":
    case "race": {
      const branches = array(from.branches, "branches").map(String);
      const results = array(from.results ?? [], "results").map(
        (each) => [String(pair(each)[0]), storedResult(pair(each)[1])] as const,
      );
      const winner = from.winner === undefined ? {} : { winner: String(from.winner) };
      return { branches, results: Object.fromEntries(results), ...winner };
    }
    case "branch_results":
      return array(from.results, "results").map(
        (each) => [whole(pair(each)[0], "the place of a branch"), storedResult(pair(each)[1])] as const,
      );
    case "version_check":
    case "removed":
      return gateData(from);
    case "message":
      return from.completed === undefined
        ? undefined
        : { held: true, completed: array(from.completed, "completed").map(Number) };
    default:
      return from.data === undefined ? undefined : fromJsonTree(copyOf(from.data));
  }
}

function gateData({ kind, data }: PortableEntry): unknown {
  const fields = own(object(fromJsonTree(copyOf(data)), '"data"'));
  if (kind === "version_check") whole(fields["version"], '"version"');
  else if (typeof fields["kind"] !== "string") throw new TypeError('"kind" of what was removed must be a string');
  return fields;
}

function storedResult(given: unknown): StoredResult {
  const result = own(object(given, "a result"));
  return has(result, "value") ? { v: bytesOf(result["value"]) } : { f: failureOf(result["failure"]) };
}

function failureOf(tree: unknown): Failure {
  const failure = own(object(fromJsonTree(copyOf(tree)), "failure")) as unknown as Failure;
  const { kind, error } = failure;
  const { name, message } = own(object(error, "the error of a failure"));
  if (![kind, name, message].every((text) => typeof text === "string"))
    throw new TypeError("a failure must have a kind, and an error with a name and a message");
  return ownFailure(failure);
}

function bytesOf(tree: Tree): Uint8Array {
  return encodeValue(fromJsonTree(copyOf(tree)), { limitBytes: MAX_BYTES });
}

/** Reviving changes its argument. */
function copyOf(tree: Tree): unknown {
  return tree === undefined ? tree : JSON.parse(JSON.stringify(tree));
}

function locationOf(given: unknown): Location {
  const isSegment = (each: unknown): boolean => typeof each === "string" || Number.isInteger(each);
  if (Array.isArray(given) && given.length > 0 && given.length <= MAX_LEVELS && given.every(isSegment))
    return given as unknown as Location;
  throw new TypeError(`"at" must be an array of at most ${MAX_LEVELS} names and numbers`);
}

function count(from: object, field: string, otherwise?: number): number {
  return whole((from as Readonly<Record<string, unknown>>)[field] ?? otherwise, `"${field}"`);
}

function whole(given: unknown, what: string): number {
  if (Number.isSafeInteger(given) && (given as number) >= 0) return given as number;
  throw new TypeError(`${what} must be a whole number of at least 0`);
}

function time(given: unknown): number {
  if (typeof given === "number" && Number.isFinite(given)) return given;
  throw new TypeError("a time must be a number, epoch ms");
}

function oneOf<T extends string>(known: ReadonlySet<string>, given: T, field: string): T {
  if (known.has(given)) return given;
  throw new TypeError(`"${field}" must be one of ${[...known].join(", ")}`);
}

function array(given: unknown, field: string): readonly unknown[] {
  if (Array.isArray(given)) return given;
  throw new TypeError(`"${field}" must be an array`);
}

function pair(given: unknown): readonly unknown[] {
  if (Array.isArray(given) && given.length === 2) return given;
  throw new TypeError('"results" must hold pairs');
}

function object(given: unknown, what: string): Record<string, unknown> {
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return given as Record<string, unknown>;
  throw new TypeError(`${what} must be an object`);
}
