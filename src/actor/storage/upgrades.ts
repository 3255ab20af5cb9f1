/**
 * Upgrades storage of earlier releases (COMMIT-10). The first event or alarm brings it to the current format in one
 * commit, before anything else of the actor is read. A newer format is refused and nothing is changed.
 */
import { ActorError, STORAGE_FORMAT, own } from "../../protocol/index.js";
import type { ActorPorts, Batch, StoreActivation, Upgrade, UpgradedRows } from "../ports.js";
import { KEYS, decodeRecord, encodeRecord, type ActorRecord } from "./record.js";

/**
 * One upgrade from each format to the next, in order; the last leads to `STORAGE_FORMAT`. A released upgrade never
 * changes and calls no code that reads or writes today's rows: that code evolves, the old rows do not.
 */
export const UPGRADES: readonly Upgrade[] = [];

/**
 * The actor's record, upgraded to the current format; undefined if the actor does not exist. Writes nothing when it
 * throws.
 * @throws {storage/newer_format} when a later release wrote it
 * @throws {storage/corrupt} when it cannot be read
 */
export function openRecord(
  store: StoreActivation,
  formats?: Pick<ActorPorts, "upgrades" | "newestFormat">,
): ActorRecord | undefined {
  const { upgrades = UPGRADES, newestFormat } = own(formats);
  const bytes = store.get(KEYS.actor);
  if (!bytes) return undefined;
  const record = decodeRecord(bytes, newestFormat);
  return record.format >= STORAGE_FORMAT && Number.isInteger(record.format)
    ? record
    : upgraded(store, record.format, upgrades);
}

function upgraded(store: StoreActivation, format: number, upgrades: readonly Upgrade[]): ActorRecord {
  const first = upgrades.length - (STORAGE_FORMAT - format);
  if (!Number.isInteger(first) || first < 0) {
    throw new ActorError(
      "storage",
      "corrupt",
      `The actor's record names storage format ${format}, which does not exist`,
    );
  }
  const rows = new ChangedRows(store);
  for (const upgrade of upgrades.slice(first)) upgrade(rows);
  const record = { ...decodeRecord(rows.get(KEYS.actor) ?? new Uint8Array()), format: STORAGE_FORMAT };
  rows.put(KEYS.actor, encodeRecord(record));
  store.commit(own(rows.batch));
  return record;
}

/** The rows as the upgrades so far changed them, in memory. */
class ChangedRows implements UpgradedRows {
  readonly #store: StoreActivation;
  readonly #puts = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly #deletes = new Set<string>();

  constructor(store: StoreActivation) {
    this.#store = store;
  }

  get batch(): Batch {
    return { puts: this.#puts, deletes: this.#deletes };
  }

  get(key: string): Uint8Array | undefined {
    return this.#puts.get(key) ?? (this.#deletes.has(key) ? undefined : this.#store.get(key));
  }

  list(prefix: string): [key: string, value: Uint8Array][] {
    const rows = new Map(this.#store.list(prefix));
    for (const key of this.#deletes) rows.delete(key);
    for (const [key, bytes] of this.#puts) if (key.startsWith(prefix)) rows.set(key, bytes);
    return [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  put(key: string, bytes: Uint8Array<ArrayBuffer>): void {
    this.#puts.set(key, bytes);
    this.#deletes.delete(key);
  }

  delete(key: string): void {
    this.#puts.delete(key);
    this.#deletes.add(key);
  }
}
