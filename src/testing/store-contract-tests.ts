/** The tests of the contract in store.contract.ts, and where they run. */
import type { Batch, ListOptions, Store, StoreActivation } from "../actor/ports.js";

/** One life of the process that uses the store. */
export interface StoreLife {
  readonly store: Store;
  /** Lets the current turn end; what was committed in it is then beyond the reach of `crash`. */
  nextTurn(): Promise<void>;
  /** A kill without notice, at this instruction. Never returns to its caller. */
  crash(): Promise<never>;
}

/** A store with a storage of its own, empty at first. */
export interface StoreUnderTest {
  /** Runs `body` as one event where the store lives. What `crash` ends counts as done; any other failure rejects. */
  visit(body: (life: StoreLife) => Promise<void>): Promise<void>;
}

export type Expect = (actual: unknown, message?: string) => { toEqual(expected: unknown): void };

export interface ContractTest {
  readonly name: string;
  run(subject: StoreUnderTest, expect: Expect): Promise<void>;
}

const HOUR_MS = 3_600_000;
/** A time that no machine's clock reaches while the suite runs. */
const FAR_AT = 4_000_000_000_000;

export const CONTRACT_TESTS: readonly ContractTest[] = [
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
    name: "a commit that is refused in its middle changes nothing: rows, deletes and alarm stay",
    run: async (subject, expect) => {
      const unstorable = (() => {}) as unknown as Uint8Array<ArrayBuffer>;
      await subject.visit(async ({ store, nextTurn }) => {
        const activation = store.activate();
        activation.commit(batch({ puts: { a: [1], b: [2] }, alarmAt: FAR_AT }));
        const puts = new Map([
          ...batch({ puts: { a: [9], c: [3] } }).puts,
          ["d", unstorable] as const,
          ["e", Uint8Array.of(5)] as const,
        ]);
        let refused = false;
        try {
          activation.commit({ puts, deletes: new Set(["b"]), alarmAt: FAR_AT + HOUR_MS });
        } catch {
          refused = true;
        }
        expect(refused, "the store refuses a function").toEqual(true);
        expect(rows(activation, "")).toEqual([
          ["a", [1]],
          ["b", [2]],
        ]);
        expect(await activation.getAlarm()).toEqual(FAR_AT);
        await activation.sync();
        await nextTurn();
      });
      await subject.visit(async ({ store }) => {
        const activation = store.activate();
        expect(rows(activation, ""), "after a restart").toEqual([
          ["a", [1]],
          ["b", [2]],
        ]);
        expect(await activation.getAlarm()).toEqual(FAR_AT);
      });
    },
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
  {
    name: "a crash in the same turn takes all of its commits, microtasks included",
    run: async (subject, expect) => {
      await subject.visit(async ({ store }) => {
        const activation = store.activate();
        activation.commit(batch({ puts: { before: [1] }, alarmAt: FAR_AT }));
        await activation.sync();
      });
      await subject.visit(async ({ store, crash }) => {
        const activation = store.activate();
        activation.commit(batch({ puts: { first: [1] }, deletes: ["before"] }));
        await undefined;
        activation.commit(batch({ puts: { second: [2] }, alarmAt: null }));
        await undefined;
        await crash();
      });
      await subject.visit(async ({ store }) => {
        const activation = store.activate();
        expect(rows(activation, "")).toEqual([["before", [1]]]);
        expect(await activation.getAlarm()).toEqual(FAR_AT);
      });
    },
  },
  {
    name: "what was committed in an earlier turn survives a crash, the alarm with it",
    run: async (subject, expect) => {
      await subject.visit(async ({ store, nextTurn, crash }) => {
        const activation = store.activate();
        activation.commit(batch({ puts: { a: [1] }, alarmAt: FAR_AT }));
        activation.commit(batch({ puts: { b: [2] } }));
        await nextTurn();
        activation.commit(batch({ puts: { c: [3] } }));
        await crash();
      });
      await subject.visit(async ({ store }) => {
        const activation = store.activate();
        expect(rows(activation, "")).toEqual([
          ["a", [1]],
          ["b", [2]],
        ]);
        expect(await activation.getAlarm()).toEqual(FAR_AT);
      });
    },
  },
  {
    name: "what sync has confirmed survives a crash right after it",
    run: async (subject, expect) => {
      await subject.visit(async ({ store, crash }) => {
        const activation = store.activate();
        activation.commit(batch({ puts: { a: [1] }, alarmAt: FAR_AT }));
        await activation.sync();
        await crash();
      });
      await subject.visit(async ({ store }) => {
        const activation = store.activate();
        expect(read(activation, "a")).toEqual([1]);
        expect(await activation.getAlarm()).toEqual(FAR_AT);
      });
    },
  },
  {
    name: "an activation that begins in the turn of another's commit keeps it, and the sync of either resolves",
    run: async (subject, expect) => {
      await subject.visit(async ({ store, crash }) => {
        const older = store.activate();
        older.commit(batch({ puts: { a: [1] } }));
        const confirmed = older.sync();
        const newest = store.activate();
        newest.commit(batch({ puts: { b: [2] }, alarmAt: FAR_AT }));
        await Promise.all([newest.sync(), confirmed]);
        await crash();
      });
      await subject.visit(async ({ store }) => {
        const activation = store.activate();
        expect(rows(activation, "")).toEqual([
          ["a", [1]],
          ["b", [2]],
        ]);
        expect(await activation.getAlarm()).toEqual(FAR_AT);
      });
    },
  },
  {
    name: "sync with nothing to confirm resolves",
    run: (subject, expect) =>
      subject.visit(async ({ store }) => {
        const activation = store.activate();
        await activation.sync();
        expect(rows(activation, "")).toEqual([]);
      }),
  },
  {
    name: "deleteAll clears rows and alarm, and the store can be used at once",
    run: async (subject, expect) => {
      await subject.visit(async ({ store }) => {
        const activation = store.activate();
        activation.commit(batch({ puts: { a: [1], "e/1": [2] }, alarmAt: FAR_AT }));
        await activation.sync();
        await activation.deleteAll();
        expect(rows(activation, "")).toEqual([]);
        expect(await activation.getAlarm()).toEqual(null);
        activation.commit(batch({ puts: { b: [3] } }));
        await activation.sync();
      });
      await subject.visit(async ({ store }) => {
        const activation = store.activate();
        expect(rows(activation, "")).toEqual([["b", [3]]]);
        expect(await activation.getAlarm()).toEqual(null);
      });
    },
  },
];

function batch(change: {
  readonly puts?: Readonly<Record<string, readonly number[]>>;
  readonly deletes?: readonly string[];
  readonly alarmAt?: number | null;
}): Batch {
  const puts = new Map(Object.entries(change.puts ?? {}).map(([key, bytes]) => [key, Uint8Array.from(bytes)]));
  const deletes = new Set(change.deletes ?? []);
  return change.alarmAt === undefined ? { puts, deletes } : { puts, deletes, alarmAt: change.alarmAt };
}

function read(activation: StoreActivation, key: string): number[] | undefined {
  const bytes = activation.get(key);
  return bytes && [...bytes];
}

function rows(activation: StoreActivation, prefix: string): [string, number[]][] {
  return [...activation.list(prefix)].map(([key, bytes]) => [key, [...bytes]]);
}

async function outcomeOf(use: () => unknown): Promise<"refused" | "done"> {
  try {
    await use();
    return "done";
  } catch {
    return "refused";
  }
}
