/** Rows as tests of the contract write them, and as they compare what a store gives. */
import type { Batch, StoreActivation } from "../actor/ports.js";

/** A time that no machine's clock reaches while the suite runs: for alarms that are not to fire. */
export const FAR_AT = 4_000_000_000_000;

/** A commit, with bytes as numbers. */
export function batch(change: {
  readonly puts?: Readonly<Record<string, readonly number[]>>;
  readonly deletes?: readonly string[];
  readonly alarmAt?: number | null;
}): Batch {
  const puts = new Map(Object.entries(change.puts ?? {}).map(([key, bytes]) => [key, Uint8Array.from(bytes)]));
  const deletes = new Set(change.deletes ?? []);
  return change.alarmAt === undefined ? { puts, deletes } : { puts, deletes, alarmAt: change.alarmAt };
}

/** One row as `expect` compares it. */
export function read(activation: StoreActivation, key: string): number[] | undefined {
  const bytes = activation.get(key);
  return bytes && [...bytes];
}

/** All rows whose keys begin so. */
export function rows(activation: StoreActivation, prefix: string): [string, number[]][] {
  return [...activation.list(prefix)].map(([key, bytes]) => [key, [...bytes]]);
}
