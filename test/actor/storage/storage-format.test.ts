import { describe, expect, it } from "vitest";
import { KEYS, type Upgrade } from "../../../src/actor/index.js";
import { UPGRADES } from "../../../src/actor/internal.js";
import { decodeValue, encodeValue, NEWEST_STORAGE_FORMAT, STORAGE_FORMAT } from "../../../src/protocol/index.js";
import type { WorldOptions } from "../../../src/testing/index.js";
import { Golden, goldenFiles, rowsOf, type Any, type Dump, type Workload } from "../../workflow/histories/golden.js";
import { workloads } from "../../workflow/histories/workloads.js";
import { hashesOf } from "../../workflow/histories/write.js";
import { subject, type Subject } from "../../workflow/subject.js";

type Rows = Map<string, Uint8Array<ArrayBuffer>>;

/** An invented older format: entries had another key and other names, and the state was in an array. */
const toFirst: Upgrade = (rows) => {
  for (const [key, bytes] of rows.list("old/")) {
    const { place, what, ...rest } = decodeValue(bytes) as Any;
    rows.delete(key);
    rows.put(`e/${key.slice(4)}`, encodeValue({ l: place, k: what, ...rest }));
  }
  const state = rows.get("s");
  if (state) rows.put("s", encodeValue((decodeValue(state) as unknown[])[0]));
  const { called, ...record } = decodeValue(rows.get("a") as Uint8Array) as Any;
  rows.put("a", encodeValue({ ...record, name: called }));
  rows.delete("gone");
};

/** The one before that: history keys had no prefix. */
const toZeroth: Upgrade = (rows) => {
  for (const [key, bytes] of rows.list("history ")) {
    rows.delete(key);
    rows.put(`old/${key.slice(8)}`, new Uint8Array(bytes));
  }
};

const golden = goldenFiles(
  Object.keys(hashesOf(new URL("../../workflow/histories", import.meta.url).pathname)),
  workloads,
).filter(([, dump]) => dump.format === STORAGE_FORMAT);
const [, sleeping, sleeper] = golden.find(([file]) => file.includes("steps-and-sleep")) as [string, Dump, Workload];

function older(dump: Dump, format: number): Rows {
  const rows: Rows = new Map([["gone", encodeValue("gone")]]);
  for (const [key, bytes] of rowsOf(dump)) {
    if (key.startsWith("e/")) {
      const { l, k, ...rest } = decodeValue(bytes) as Any;
      rows.set(
        `${format === STORAGE_FORMAT - 1 ? "old/" : "history "}${key.slice(2)}`,
        encodeValue({ place: l, what: k, ...rest }),
      );
    } else if (key === "s") rows.set("s", encodeValue([decodeValue(bytes)]));
    else if (key === "a") {
      const { name, ...rest } = decodeValue(bytes) as Any;
      rows.set("a", encodeValue({ ...rest, format, called: name }));
    } else rows.set(key, bytes);
  }
  return rows;
}

function open(dump: Dump, workload: Workload, rows: Rows, options: Partial<WorldOptions> = {}): Golden {
  const opened = Golden.open(workload, dump, workload.program, options);
  opened.subject.store.restore(rows, dump.alarmAt);
  return opened;
}

const contents = (rows: ReadonlyMap<string, Uint8Array>): unknown =>
  Object.fromEntries(
    [...rows].map(([key, bytes]) => [key, key.startsWith(KEYS.userValues) ? bytes : decodeValue(bytes)]),
  );

describe("an actor in an older storage format", () => {
  it.each(golden)("%s is upgraded in one commit, and goes on", async (_, dump, workload) => {
    const commits: unknown[] = [];
    const actor = open(dump, workload, older(dump, STORAGE_FORMAT - 1), {
      upgrades: [toFirst],
      onCommit: (__, rows) => commits.push(contents(rows)),
    });
    // An actor with an alarm needs no caller.
    if (dump.alarmAt === null) await actor.call("get");
    expect(await actor.finish()).toEqual(workload.ends);
    expect(commits[0]).toEqual(contents(rowsOf(dump)));
  });

  it("is upgraded over several formats in the same one commit, by whatever comes first", async () => {
    const upgrades = [toZeroth, toFirst];
    const actor = open(sleeping, sleeper, older(sleeping, STORAGE_FORMAT - 2), { upgrades });
    expect(await actor.call("get")).toEqual({ log: ["first"] });
    expect(actor.subject.store.commits).toBe(1);
    expect(contents(actor.subject.store.dump())).toEqual(contents(rowsOf(sleeping)));
    expect(actor.subject.store.alarmAt).toBe(sleeping.alarmAt);
    expect(actor.subject.store.alarmWrites).toBe(0);
    expect(await actor.finish()).toEqual(sleeper.ends);
    // It is not upgraded again.
    const byAlarm = open(sleeping, sleeper, older(sleeping, STORAGE_FORMAT - 2), { upgrades });
    expect(await byAlarm.finish()).toEqual(sleeper.ends);
  });

  it.each(["crash-before", "crash-after"] as const)("is never seen half upgraded: %s the commit", async (fault) => {
    const rows = older(sleeping, STORAGE_FORMAT - 1);
    const actor = open(sleeping, sleeper, rows, {
      upgrades: [toFirst],
      fault: (_, commit) => (commit === 1 ? fault : undefined),
    });
    await actor.call("get").catch(() => {});
    await actor.world.turn();
    expect(actor.subject.crashes).toBe(1);
    expect(contents(actor.subject.store.dump())).toEqual(
      fault === "crash-before" ? contents(rows) : contents(rowsOf(sleeping)),
    );
    expect(await actor.finish()).toEqual(sleeper.ends);
  });

  it("stays as it is when its upgrade fails, and a release whose upgrade works goes on by itself", async () => {
    const rows = older(sleeping, STORAGE_FORMAT - 1);
    const broken: Upgrade = (each) => {
      toFirst(each);
      throw new Error("half way");
    };
    const actor = open(sleeping, sleeper, rows, { upgrades: [broken] });
    await expect(actor.call("get")).rejects.toMatchObject({ code: "internal_error" });
    await actor.world.pass(2 * 3_600_000);
    expect(contents(actor.subject.store.dump())).toEqual(contents(rows));
    const { alarmAt } = actor.subject.store;
    expect(alarmAt).toBeGreaterThan(actor.clock.now());

    const fixed = Golden.open(sleeper, sleeping, sleeper.program, { upgrades: [toFirst], clock: actor.clock });
    fixed.subject.store.restore(rows, alarmAt);
    expect(await fixed.finish()).toEqual(sleeper.ends);
  });

  it.each([STORAGE_FORMAT - 1, -7, 0.5, Number.NaN])(
    "that never was one, %d, is refused and not changed",
    async (format) => {
      const rows = rowsOf(sleeping);
      rows.set("a", encodeValue({ ...(decodeValue(rows.get("a") as Uint8Array) as object), format }));
      const actor = open(sleeping, sleeper, rows);
      await expect(actor.call("get")).rejects.toMatchObject({ group: "storage", code: "corrupt" });
      expect(actor.subject.store.commits).toBe(0);
      expect(contents(actor.subject.store.dump())).toEqual(contents(rows));
    },
  );

  it("has an upgrade from each format that was released", () => {
    expect(UPGRADES).toHaveLength(STORAGE_FORMAT - 1);
  });
});

describe("an actor in a newer storage format", () => {
  const newer = (dump: Dump): Rows => {
    const rows = rowsOf(dump);
    rows.set(
      "a",
      encodeValue({
        ...(decodeValue(rows.get("a") as Uint8Array) as object),
        format: NEWEST_STORAGE_FORMAT + 1,
        whatever: new Map(),
      }),
    );
    rows.set("z/what this release does not know", new Uint8Array([0xff]));
    return rows;
  };

  it.each(golden)(
    "%s is refused without a change, looked at again at growing distances, and goes on under the release that knows it",
    async (_, dump, workload) => {
      const rows = newer(dump);
      const actor = open(dump, workload, rows);
      for (const creation of [{ mode: "get" }, { mode: "getOrCreate" }, { mode: "create" }] as const) {
        for (const operation of [
          { kind: "action", name: "get", args: encodeValue([]) },
          { kind: "send", queue: "q", body: encodeValue(1) },
          { kind: "resolve" },
        ] as const) {
          const reply = await actor.subject.send(creation, operation);
          expect(reply).toMatchObject({ ok: false, status: 500, error: { group: "storage", code: "newer_format" } });
        }
      }
      expect(actor.subject.store.alarmAt).toBe(dump.alarmAt);
      const distances: number[] = [];
      for (let wakes = 0; wakes < 7 && actor.subject.store.alarmAt !== null; wakes += 1) {
        actor.clock.moveTo(Math.max(actor.clock.now(), actor.subject.store.alarmAt));
        await actor.subject.fireAlarm();
        distances.push((actor.subject.store.alarmAt - actor.clock.now()) / 1_000);
      }
      expect(distances).toEqual(dump.alarmAt === null ? [] : [10, 20, 40, 80, 160, 300, 300]);
      expect(contents(new Map([...actor.subject.store.dump()].filter(([key]) => !key.startsWith("z/"))))).toEqual(
        contents(new Map([...rows].filter(([key]) => !key.startsWith("z/")))),
      );

      const known = Golden.open(workload, dump, workload.program, { clock: actor.clock });
      known.subject.store.restore(rowsOf(dump), actor.subject.store.alarmAt);
      const outcome = await known.finish();
      // Calls that clients make in between may come too late now.
      expect(outcome).toEqual(workload.finish ? expect.objectContaining({ left: [], alarmAt: null }) : workload.ends);
    },
  );
});

describe("an actor whose rows an older release would misread", () => {
  const branches = (n: number): object =>
    Object.fromEntries(Array.from({ length: n }, (_, at) => [`b${at}`, { run: (b: Any) => b.step("s", () => at) }]));
  const formatOf = (s: Subject): unknown =>
    (decodeValue(s.actor.store.dump().get("a") as Uint8Array) as { format: unknown }).format;

  it("is in the newer format from the commit on that first writes one, and not before", async () => {
    const formats: [rows: boolean, format: unknown][] = [];
    let onCommit: (rows: ReadonlyMap<string, Uint8Array>) => void = () => {};
    const s = await subject(
      async (ctx) => {
        await ctx.step("first", () => {});
        await ctx.sleep("wait", 1_000);
        await ctx.join("j", branches(2) as never);
      },
      { onCommit: (rows) => onCommit(rows) },
    );
    expect(formatOf(s)).toBe(STORAGE_FORMAT);
    onCommit = (rows) => {
      const kinds = [...rows].flatMap(([key, bytes]) =>
        key.startsWith("e/") ? [(decodeValue(bytes) as { k: string }).k] : [],
      );
      formats.push([
        kinds.includes("branch_results"),
        (decodeValue(rows.get("a") as Uint8Array) as { format: unknown }).format,
      ]);
    };
    await s.world.pass(1_000);
    for (const [rows, format] of formats) expect(format).toBe(rows ? 2 : STORAGE_FORMAT);
    expect(formats.at(-1)?.[0]).toBe(true);
  });

  it("is in it once a new entry has overwritten the row of a pruned one, and is refused by the release before", async () => {
    const formats: unknown[] = [];
    const looping = async (ctx: Any): Promise<unknown> =>
      ctx.loop("l", async (round: Any) => {
        await round.step("s", () => {});
        await round.sleep("p", 1_000);
      });
    const s = await subject(looping);
    for (let iteration = 0; iteration < 45; iteration += 1) {
      formats.push(formatOf(s));
      await s.world.pass(1_000);
    }
    // Twenty are kept, and after forty the first twenty are pruned.
    expect(formats.indexOf(3)).toBe(40);
    expect(new Set(formats)).toEqual(new Set([STORAGE_FORMAT, 3]));
    const rows = contents(s.actor.store.dump());
    const rolledBack = s.deploy(looping, { newestFormat: 2 });
    await expect(rolledBack.call("get")).rejects.toMatchObject({ group: "storage", code: "newer_format" });
    expect(contents(rolledBack.actor.store.dump())).toEqual(rows);
  });

  it("is in it once its workflow has been paused: the release before would go on with it, and refuses it", async () => {
    const waiting = async (ctx: Any): Promise<unknown> => ctx.sleep("nap", 1_000);
    const s = await subject(waiting);
    expect(formatOf(s)).toBe(STORAGE_FORMAT);
    await s.call("pause");
    expect(formatOf(s)).toBe(4);
    const rows = contents(s.actor.store.dump());
    const rolledBack = s.deploy(waiting, { newestFormat: 3 });
    await expect(rolledBack.call("get")).rejects.toMatchObject({ group: "storage", code: "newer_format" });
    await rolledBack.world.pass(10_000);
    expect(contents(rolledBack.actor.store.dump())).toEqual(rows);
    const again = rolledBack.deploy(waiting, { newestFormat: NEWEST_STORAGE_FORMAT });
    await again.call("resume");
    await again.world.passUntilQuiet();
    expect((await again.status()).status).toBe("completed");
  });

  it("is refused by the release before, unchanged, and goes on under this one; what wrote none opens there", async () => {
    const withJoin = async (ctx: Any): Promise<unknown> => (
      await ctx.join("j", branches(2)),
      await ctx.sleep("wait", 1_000),
      "done"
    );
    const before = await subject(withJoin);
    const rows = contents(before.actor.store.dump());
    const rolledBack = before.deploy(withJoin, { newestFormat: STORAGE_FORMAT });
    await expect(rolledBack.call("get")).rejects.toMatchObject({ group: "storage", code: "newer_format" });
    await rolledBack.world.pass(10_000);
    expect(contents(rolledBack.actor.store.dump())).toEqual(rows);
    const again = rolledBack.deploy(withJoin, { newestFormat: NEWEST_STORAGE_FORMAT });
    await again.world.passUntilQuiet();
    expect(await again.status()).toMatchObject({ status: "completed", output: "done" });

    const without = async (ctx: Any): Promise<unknown> => (
      await ctx.step("s", () => {}),
      await ctx.sleep("wait", 1_000),
      "done"
    );
    const plain = (await subject(without)).deploy(without, { newestFormat: STORAGE_FORMAT });
    await plain.world.passUntilQuiet();
    expect(await plain.status()).toMatchObject({ status: "completed", output: "done" });
  });
});
