/** The part of the contract in store.contract.ts about rows, the alarm and who may use them. */
import type { ListOptions } from "../actor/ports.js";
import { batch, FAR_AT, read, rows } from "./contract-rows.js";
import type { ContractTest } from "./contract-subject.js";

export const STORE_CONTRACT_TESTS: readonly ContractTest[] = [
  {
    name: "an empty store has no rows and no alarm",
    run: (subject, expect) =>
      subject.visit(async ({ store }) => {
        const activation = store.activate();
        expect(activation.get("a")).toEqual(undefined);
        expect(rows(activation, "")).toEqual([]);
        expect(await activation.getAlarm()).toEqual(null);
      }),
  },
  {
    name: "a commit is seen by the reads after it, with its puts, overwrites and deletes",
    run: (subject, expect) =>
      subject.visit(async ({ store }) => {
        const activation = store.activate();
        activation.commit(batch({ puts: { a: [1], b: [2] } }));
        activation.commit(batch({ puts: { a: [3, 4] }, deletes: ["b", "never-there"] }));
        expect(rows(activation, "")).toEqual([["a", [3, 4]]]);
        expect(read(activation, "a")).toEqual([3, 4]);
        expect(activation.get("b")).toEqual(undefined);
      }),
  },
  {
    name: "a value of no bytes and one of all byte values come back as they are",
    run: (subject, expect) =>
      subject.visit(async ({ store }) => {
        const every = Array.from({ length: 256 }, (_, byte) => byte);
        const activation = store.activate();
        activation.commit(batch({ puts: { none: [], every } }));
        expect(read(activation, "none")).toEqual([]);
        expect(read(activation, "every")).toEqual(every);
      }),
  },
  {
    name: "list gives the keys with the prefix, and no others, in the order of their text",
    run: (subject, expect) =>
      subject.visit(async ({ store }) => {
        const activation = store.activate();
        activation.commit(
          batch({ puts: { "e/9": [9], "e/10": [10], e: [0], "e/1": [1], f: [0], "d/x": [0], e0: [0] } }),
        );
        activation.commit(batch({ deletes: ["e/1"], puts: { "e/2": [2] } }));
        expect(rows(activation, "e/")).toEqual([
          ["e/10", [10]],
          ["e/2", [2]],
          ["e/9", [9]],
        ]);
        expect(rows(activation, "x/")).toEqual([]);
        expect(rows(activation, "").map(([key]) => key)).toEqual(["d/x", "e", "e/10", "e/2", "e/9", "e0", "f"]);
      }),
  },
  {
    name: "list gives a range, its first or its last, and no more than asked for",
    run: (subject, expect) =>
      subject.visit(async ({ store }) => {
        const activation = store.activate();
        activation.commit(
          batch({ puts: { "u/": [0], "u/00": [1], "u/0000": [2], "u/01": [3], "u/ff": [4], u0: [5], "t/02": [6] } }),
        );
        const keys = (options: ListOptions): string[] => [...activation.list("u/", options)].map(([key]) => key);
        expect(keys({})).toEqual(["u/", "u/00", "u/0000", "u/01", "u/ff"]);
        expect(keys({ start: "u/00", end: "u/01" })).toEqual(["u/00", "u/0000"]);
        expect(keys({ start: "u/000" })).toEqual(["u/0000", "u/01", "u/ff"]);
        expect(keys({ end: "u/01", reverse: true })).toEqual(["u/0000", "u/00", "u/"]);
        expect(keys({ limit: 2 })).toEqual(["u/", "u/00"]);
        expect(keys({ limit: 2, reverse: true })).toEqual(["u/ff", "u/01"]);
        expect(keys({ start: "u/0", end: "u/ffg", limit: 1, reverse: true })).toEqual(["u/ff"]);
      }),
  },
  {
    name: "a list that was asked for does not change with later commits",
    run: (subject, expect) =>
      subject.visit(async ({ store }) => {
        const activation = store.activate();
        activation.commit(batch({ puts: { "e/1": [1], "e/2": [2], "e/3": [3] } }));
        const seen: string[] = [];
        for (const [key] of activation.list("e/")) {
          seen.push(key);
          activation.commit(batch({ deletes: ["e/2", "e/3"], puts: { "e/4": [4] } }));
        }
        expect(seen).toEqual(["e/1", "e/2", "e/3"]);
      }),
  },
  {
    name: "bytes are copies, on the way in and on the way out",
    run: (subject, expect) =>
      subject.visit(async ({ store }) => {
        const activation = store.activate();
        const given = Uint8Array.of(1, 2, 3);
        activation.commit({ puts: new Map([["a", given]]), deletes: new Set() });
        given.fill(9);
        activation.get("a")?.fill(8);
        for (const [, bytes] of activation.list("a")) bytes.fill(7);
        expect(read(activation, "a")).toEqual([1, 2, 3]);
      }),
  },
  {
    name: "a commit sets the alarm, leaves it alone, moves it and clears it",
    run: (subject, expect) =>
      subject.visit(async ({ store }) => {
        const activation = store.activate();
        const after = async (change: Parameters<typeof batch>[0]): Promise<number | null> => {
          activation.commit(batch(change));
          return activation.getAlarm();
        };
        expect(await after({ puts: { a: [1] } })).toEqual(null);
        expect(await after({ alarmAt: FAR_AT })).toEqual(FAR_AT);
        expect(await after({ puts: { a: [2] } })).toEqual(FAR_AT);
        expect(await after({ alarmAt: FAR_AT + 1 })).toEqual(FAR_AT + 1);
        expect(await after({ alarmAt: FAR_AT - 1 })).toEqual(FAR_AT - 1);
        expect(await after({ alarmAt: null })).toEqual(null);
        expect(await after({ alarmAt: null })).toEqual(null);
      }),
  },
  {
    name: "an activation that is not the newest can neither read nor write",
    run: (subject, expect) =>
      subject.visit(async ({ store }) => {
        const older = store.activate();
        older.commit(batch({ puts: { a: [1] }, alarmAt: FAR_AT }));
        expect(older.isCurrent).toEqual(true);
        const newest = store.activate();
        expect([older.isCurrent, newest.isCurrent]).toEqual([false, true]);
        const outcomes = {
          commit: await outcomeOf(() => older.commit(batch({ puts: { a: [2] }, alarmAt: null }))),
          get: await outcomeOf(() => older.get("a")),
          list: await outcomeOf(() => [...older.list("")]),
          getAlarm: await outcomeOf(() => older.getAlarm()),
          deleteAll: await outcomeOf(() => older.deleteAll()),
        };
        expect(outcomes).toEqual({
          commit: "refused",
          get: "refused",
          list: "refused",
          getAlarm: "refused",
          deleteAll: "refused",
        });
        expect(rows(newest, "")).toEqual([["a", [1]]]);
        expect(await newest.getAlarm()).toEqual(FAR_AT);
        newest.commit(batch({ puts: { a: [3] } }));
        expect(read(newest, "a")).toEqual([3]);
      }),
  },
];

async function outcomeOf(use: () => unknown): Promise<"refused" | "done"> {
  try {
    await use();
    return "done";
  } catch {
    return "refused";
  }
}
