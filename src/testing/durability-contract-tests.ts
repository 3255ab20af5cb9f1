/** The part of the contract in store.contract.ts about what is stored, and when: refused commits, crashes and restarts. */
import { batch, FAR_AT, read, rows } from "./contract-rows.js";
import type { ContractTest } from "./contract-subject.js";

const HOUR_MS = 3_600_000;

export const DURABILITY_CONTRACT_TESTS: readonly ContractTest[] = [
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
