import { encodeValue, own, decodeForWorkflow } from "../protocol/index.js";
import type { Activation } from "./activation.js";
import { makeEntry, type Entry, type Failure } from "./history/entry.js";
import type { History } from "./history/history.js";
import type { Location } from "./history/location.js";

/** How a branch ended. */
export type StoredResult = { readonly v: Uint8Array } | { readonly f: Failure };

/** The data of a join's or race's entry. */
export interface BranchData {
  readonly branches: readonly string[];
  /** Only in entries written in storage format 1, and for the losers of a race whose winner runs again. */
  readonly results?: Readonly<Record<string, StoredResult>>;
}

/** The data of a row of results: how branches ended, by their index in the array of names. */
type Row = readonly (readonly [place: number, result: StoredResult])[];

/** The row that collects results until it is written. */
interface OpenRow {
  readonly entry: Entry;
  /** The number of commits when it was opened. */
  readonly commits: number;
  bytes: number;
}

/** The storage format since which results have rows of their own. */
const FORMAT = 2;
/** Bytes of results per row; a larger result gets a row of its own. */
const MAX_ROW_BYTES = 1_000_000;

/**
 * The results of a join's or race's branches. Results between two commits share one row, an entry below the join's own, so
 * that each is written once.
 */
export class BranchResults {
  readonly #activation: Activation;
  readonly #location: Location;
  readonly #places: ReadonlyMap<string, number>;
  readonly #byName: Map<string, StoredResult>;
  #row: OpenRow | undefined;
  #bytes = 0;

  constructor(activation: Activation, entry: Entry) {
    this.#activation = activation;
    this.#location = entry.location;
    this.#places = new Map((entry.data as BranchData).branches.map((name, place) => [name, place]));
    this.#byName = readResults(activation.history, entry);
    for (const result of this.#byName.values()) this.#bytes += resultBytes(result);
  }

  /** Encoded bytes of all results together. */
  get sizeBytes(): number {
    return this.#bytes;
  }

  get(name: string): StoredResult | undefined {
    return this.#byName.get(name);
  }

  /** Adds a result to the dirty set; the next commit writes it. */
  add(name: string, result: StoredResult): void {
    const bytes = resultBytes(result);
    this.#byName.set(name, result);
    this.#bytes += bytes;
    let open = this.#row;
    if (!open || open.commits !== this.#activation.commits || open.bytes + bytes > MAX_ROW_BYTES) {
      const seq = this.#activation.ports.nextSeq();
      const entry = makeEntry({
        seq,
        location: [...this.#location, seq],
        kind: "branch_results",
        status: "completed",
        rev: 0,
        attempts: 0,
        interrupted: 0,
        data: [],
      });
      this.#row = open = { entry, commits: this.#activation.commits, bytes: 0 };
      this.#activation.ports.requireFormat(FORMAT);
    }
    (open.entry.data as [number, StoredResult][]).push([this.#places.get(name) as number, result]);
    open.bytes += bytes;
    this.#activation.put(open.entry);
  }
}

/** True for a value, false for a failure. Reads own properties only: the result may come from storage. */
export function isValue(result: StoredResult): result is Extract<StoredResult, { v: unknown }> {
  return Object.hasOwn(result, "v");
}

/** The values of a completed join's branches as one object, its keys in the order of `names`. */
export function branchValues(
  history: History,
  entry: Entry,
  names: readonly string[] = (entry.data as BranchData).branches,
): Record<string, unknown> {
  const results = readResults(history, entry);
  const byName = Object.create(null) as Record<string, unknown>;
  for (const name of names) {
    const result = results.get(name);
    if (result && isValue(result)) byName[name] = decodeForWorkflow(result.v);
  }
  return byName;
}

/** How the first branches of a join or race stand; one that has won, and the results of a completed join, are not failed. */
export function branchStates(
  history: History,
  entry: Entry,
  most: number,
): { readonly name: string; readonly status: "pending" | "completed" | "failed" }[] {
  const results = readResults(history, entry);
  const names = (entry.data as BranchData).branches.slice(0, most);
  const rest = entry.kind === "join" && entry.status === "completed" ? "completed" : "pending";
  return names.map((name) => {
    const result = results.get(name);
    return { name, status: result ? (isValue(result) ? "completed" : "failed") : rest };
  });
}

function readResults(history: History, entry: Entry): Map<string, StoredResult> {
  const { branches, results = {} } = own(entry.data as BranchData);
  const byName = new Map<string, StoredResult>();
  for (const name of branches) if (Object.hasOwn(results, name)) byName.set(name, results[name] as StoredResult);
  for (const { data } of branchResultRows(history, entry.location)) {
    for (const [place, result] of data as Row) byName.set(branches[place] as string, result);
  }
  return byName;
}

/** The rows of results below a join's or race's location, in the order they were written. */
export function branchResultRows(history: History, location: Location): Entry[] {
  return history.namesBelow(location).flatMap((segment) => {
    const entry = typeof segment === "number" ? history.find([...location, segment]) : undefined;
    return entry?.kind === "branch_results" ? [entry] : [];
  });
}

const OVERHEAD_BYTES = 10;

function resultBytes(result: StoredResult): number {
  return OVERHEAD_BYTES + (isValue(result) ? result.v.byteLength : encodeValue(result).byteLength);
}
