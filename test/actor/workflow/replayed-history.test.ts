import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  actor,
  recordHistory,
  replayHistory,
  setup,
  workflow,
  type RecordedHistory,
  type Registry,
  type Verdict,
} from "../../../src/actor/index.js";
import { goldenFiles, rowsOf, type Any, type Program } from "../../workflow/histories/golden.js";
import { workloads } from "../../workflow/histories/workloads.js";
import { hashesOf } from "../../workflow/histories/write.js";
import { testWorld } from "../../support/test-world.js";

const folder = join(import.meta.dirname, "../../workflow/histories");
const golden = goldenFiles(Object.keys(hashesOf(folder)), workloads).filter(
  ([, dump, workload]) => workload.program && workload.name !== "diverged" && dump.rows["a"],
);

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const host = { nextTurn, env: {}, givenUp: new Promise<void>(() => {}) };

function registryOf(program: Program, config: object = {}): Registry {
  const definition = actor({ run: workflow(program as Any), actions: { get: () => 0 }, ...config } as Any);
  return setup({ use: { subject: definition } }) as unknown as Registry;
}

/** As it is after a way through a file. */
function filed(history: RecordedHistory): Any {
  return JSON.parse(JSON.stringify(history));
}

async function record(program: Program, hours = 0): Promise<Any> {
  const world = testWorld(registryOf(program));
  const subject = world.actor("subject", ["k"]);
  await subject.call("get");
  await world.pass(hours * 3_600_000);
  return filed(recordHistory(subject.store.dump(), world.clock.now()));
}

function replay(program: Program, history: unknown, config: object = {}): Promise<Verdict> {
  return replayHistory(registryOf(program, config).find("subject"), history, host);
}

const quote: Program = async (ctx) => {
  const price = await ctx.step("price", () => 7);
  if (price > 5) await ctx.step("approve", () => "yes");
  await ctx.sleep("a day", 86_400_000);
  await ctx.step("ship", () => "sent");
  return price;
};

describe("a history that is replayed", () => {
  it.each(golden)("%s matches the program that recorded it", async (_, dump, workload) => {
    const clock = { delay: () => Promise.reject(new Error("a step ran")) };
    const history = filed(recordHistory(rowsOf(dump), dump.now));
    expect(await replay((ctx) => (workload.program as Program)(ctx, clock as Any), history)).toEqual({
      outcome: "matched",
    });
  });

  it("runs no step, no rollback and no hook", async () => {
    const ran: string[] = [];
    const program =
      (note: (what: string) => void): Program =>
      async (ctx) => {
        await ctx.rollbackCheckpoint("back");
        await ctx.step({ name: "first", run: () => note("first"), rollback: () => note("undo") });
        await ctx.sleep("nap", 1_000);
        await ctx.step("second", () => note("second"));
        throw new Error("the end");
      };
    const history = await record(
      program(() => {}),
      1,
    );
    expect(history.run).toMatchObject({ status: "failed" });
    const hooks = {
      onWake: () => void ran.push("wake"),
      createVars: () => void ran.push("vars"),
      canCreate: () => void ran.push("admit"),
    };
    const note = (what: string): void => void ran.push(what);
    expect(await replay(program(note), history, hooks)).toEqual({ outcome: "matched" });
    const begun = await record(async (ctx) => ctx.sleep("nap", 1));
    expect(await replay(async (ctx) => (await ctx.sleep("nap", 1), ctx.step("new", () => note("new"))), begun)).toEqual(
      { outcome: "matched" },
    );
    expect(ran).toEqual([]);
  });

  it("matches where the record ends: before the first step, in a wait, and at the end with more code behind it", async () => {
    const more: Program = async (ctx) => (await quote(ctx, undefined as Any), ctx.step("thank", () => "ok"));
    for (const hours of [0, 25]) expect(await replay(more, await record(quote, hours))).toEqual({ outcome: "matched" });
    const empty = { ...(await record(quote)), entries: [] };
    expect(await replay(more, empty)).toEqual({ outcome: "matched" });
  });

  it("matches where a sleep is due and has not ended", async () => {
    const history = await record(quote);
    expect(await replay(quote, { ...history, recordedAt: history.entries.at(-1).dueAt })).toEqual({
      outcome: "matched",
    });
  });

  it("takes the same branch as the recorded run, because values are part of it", async () => {
    const history = await record(quote, 25);
    expect(await replay(quote, history)).toEqual({ outcome: "matched" });
    const cheaper = filed(history);
    cheaper.entries[0].value = 3;
    expect(await replay(quote, cheaper)).toMatchObject({
      outcome: "diverged",
      location: "a day",
      found: 'step "approve"',
      expected: 'sleep "a day"',
    });
  });

  it("diverges with location, found and expected under changed code, and matches with a version gate", async () => {
    const history = await record(quote);
    const changed: Program = async (ctx) => {
      const price = await ctx.step("price", () => 7);
      await ctx.step("tax", () => 1);
      if (price > 5) await ctx.step("approve", () => "yes");
      await ctx.sleep("a day", 86_400_000);
    };
    const gated: Program = async (ctx) => {
      const price = await ctx.step("price", () => 7);
      if ((await ctx.getVersion("with tax", 2)) >= 2) await ctx.step("tax", () => 1);
      if (price > 5) await ctx.step("approve", () => "yes");
      await ctx.sleep("a day", 86_400_000);
    };
    const verdict = await replay(changed, history);
    expect(verdict).toMatchObject({
      outcome: "diverged",
      location: "tax",
      found: 'step "approve"',
      expected: 'step "tax"',
    });
    expect(await replay(gated, history)).toEqual({ outcome: "matched" });
    // The gate is recorded in newer histories, and is followed there too.
    expect(await replay(gated, await record(gated))).toEqual({ outcome: "matched" });
  });

  it("diverges inside the branches of a race that is not decided", async () => {
    const program =
      (name: string): Program =>
      async (ctx) =>
        ctx.race("first", [
          { name: "late", run: (b: Any) => b.sleep("week", 604_800_000) },
          { name: "work", run: async (b: Any) => (await b.step(name, () => 1), b.sleep("two weeks", 1_209_600_000)) },
        ]);
    const history = await record(program("old"));
    expect(await replay(program("old"), history)).toEqual({ outcome: "matched" });
    expect(await replay(program("new"), history)).toMatchObject({ outcome: "diverged", location: "first/work/new" });
  });

  it("says what the code threw when it ended early", async () => {
    const history = await record(quote, 25);
    const broken: Program = async (ctx) => {
      await ctx.step("price", () => 7);
      throw new TypeError("undefined is not a price");
    };
    expect(await replay(broken, history)).toMatchObject({
      outcome: "diverged",
      found: 'step "approve"',
      message: expect.stringContaining("TypeError: undefined is not a price"),
    });
  });

  it("diverges when the code fails at the end of a run that completed", async () => {
    const failing: Program = async (ctx) => (await quote(ctx, undefined as Any), Promise.reject(new Error("late")));
    expect(await replay(failing, await record(quote, 25))).toMatchObject({
      outcome: "diverged",
      expected: "Error: late",
    });
    expect(await replay(failing, await record(quote))).toEqual({ outcome: "matched" });
  });

  it("fails when the code awaits something that is no operation, and says where", async () => {
    let giveUp = (): void => {};
    const givenUp = new Promise<void>((resolve) => (giveUp = resolve));
    const stuck = registryOf(async (ctx) => {
      await ctx.step("price", () => 7);
      giveUp();
      await new Promise(() => {});
    });
    expect(await replayHistory(stuck.find("subject"), await record(quote), { ...host, givenUp })).toEqual({
      outcome: "failed",
      message: expect.stringContaining("awaits something at (root)"),
    });
  });

  it("cannot tell what the code does after it was given a redacted value, but can before", async () => {
    const history = await record(quote, 25);
    history.entries[0] = { ...history.entries[0], value: 0, redacted: 1 };
    expect(await replay(quote, history)).toMatchObject({
      outcome: "cannot tell",
      redacted: "price",
      location: "a day",
    });
    const renamed: Program = async (ctx) => ctx.step("cost", () => 7);
    expect(await replay(renamed, history)).toMatchObject({ outcome: "diverged", location: "cost" });
    // A masked value on which nothing depends.
    const masked = await record(quote, 25);
    masked.entries[1] = { ...masked.entries[1], value: "xxx", redacted: 1 };
    expect(await replay(quote, masked)).toEqual({ outcome: "matched" });
  });

  it("is not given the redacted result of a branch before its join has ended", async () => {
    const program =
      (name: string, after = "after"): Program =>
      async (ctx) => {
        await ctx.join("both", {
          done: { run: async (b: Any) => b.step("quick", () => "secret") },
          open: { run: async (b: Any) => (await b.step(name, () => true), b.sleep("a day", 86_400_000)) },
        });
        await ctx.step(after, () => true);
      };
    const redacted = (history: Any): Any => ({
      ...history,
      entries: history.entries.map((entry: Any) =>
        entry.kind === "branch_results" || entry.at.at(-1) === "quick" ? { ...entry, redacted: 1 } : entry,
      ),
    });
    const open = redacted(await record(program("slow")));
    expect(open.entries.some((entry: Any) => entry.kind === "branch_results")).toBe(true);
    expect(await replay(program("late"), open)).toMatchObject({ outcome: "diverged", location: "both/open/late" });
    const ended = redacted(await record(program("slow"), 25));
    expect(await replay(program("slow", "later"), ended)).toMatchObject({
      outcome: "cannot tell",
      redacted: "both",
      location: "later",
    });
  });

  it("cannot tell what follows a redacted key, once the code reads it", async () => {
    const byKey: Program = async (ctx) => ctx.step(`of ${ctx.key[0]}`, () => 1);
    const history = { ...(await record(byKey)), key: ["x"], redacted: { key: 1 } };
    expect(await replay(byKey, history)).toMatchObject({ outcome: "cannot tell", redacted: "the actor's key" });
    expect(await replay(async (ctx) => ctx.step("other", () => 1), history)).toMatchObject({ outcome: "diverged" });
  });
});

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

describe("a history that is not one", () => {
  const bad: readonly [string, (history: Any) => unknown, string][] = [
    ["another format", (h) => ({ ...h, format: "perdure-history/2" }), 'its format is "perdure-history/2"'],
    ["no object", () => [1], "it names no format"],
    ["a newer storage format", (h) => ({ ...h, storage: 99 }), "Its storage format is 99"],
    ["no entries", (h) => ({ ...h, entries: {} }), '"entries" must be an array'],
    ["no name", (h) => ({ ...h, actor: 1 }), '"actor" and "actorId" must be strings'],
    ["a key that is none", (h) => ({ ...h, key: "k" }), '"key" must be an array of strings'],
    ["no run", (h) => ({ ...h, run: null }), '"run" must be an object with a status'],
    ["an entry that is none", (h) => ({ ...h, entries: [null] }), "Entry 1 cannot be read"],
    ["an unknown kind", (h) => ({ ...h, entries: [{ ...h.entries[0], kind: "leap" }] }), '"kind" must be one of'],
    [
      "a broken value",
      (h) => ({ ...h, entries: [{ ...h.entries[0], value: ["$Date", "x"] }] }),
      "Entry 1 cannot be read",
    ],
    [
      "no location",
      (h) => ({ ...h, entries: [{ ...h.entries[0], at: [] }] }),
      '"at" must be an array of at most 1000 names and numbers',
    ],
    ["a number twice", (h) => ({ ...h, entries: [h.entries[0], h.entries[0]] }), "is that of an entry before it"],
    [
      "a place twice",
      (h) => ({ ...h, entries: [h.entries[0], { ...h.entries[0], seq: 90 }] }),
      'Entry 2 cannot be read: "at" is that of an entry before it',
    ],
    [
      "a failed step without its failure",
      (h) => ({ ...h, entries: [{ ...h.entries[0], status: "failed" }] }),
      "one that failed must have a failure",
    ],
    [
      "an open loop without its iteration",
      (h) => ({ ...h, entries: [{ ...h.entries[0], kind: "loop", status: "pending", state: 1 }] }),
      '"iteration" must be a whole number',
    ],
    [
      "an open loop without its state",
      (h) => ({ ...h, entries: [{ ...h.entries[0], kind: "loop", status: "pending", iteration: 1 }] }),
      "an open loop must have a state",
    ],
    [
      "a gate without its version",
      (h) => ({ ...h, entries: [{ ...h.entries[0], kind: "version_check", data: {} }] }),
      '"version" must be a whole number',
    ],
    [
      "results of a branch that there is not",
      (h) => ({
        ...h,
        entries: [{ ...h.entries[0], kind: "branch_results", results: [["first", { value: 1 }]] }],
      }),
      "the place of a branch must be a whole number",
    ],
    [
      "a result that is none",
      (h) => ({ ...h, entries: [{ ...h.entries[0], kind: "join", branches: ["a"], results: [["a", {}]] }] }),
      "Entry 1 cannot be read",
    ],
    [
      "a place without end",
      (h) => ({ ...h, entries: [{ ...h.entries[0], at: Array.from({ length: 30_000 }, () => "a") }] }),
      '"at" must be an array of at most',
    ],
    [
      "a value without end",
      (h) => ({ ...h, entries: [{ ...h.entries[0], value: deep(100_000) }] }),
      "Entry 1 cannot be read: ",
    ],
    ["an unknown status", (h) => ({ ...h, run: { status: "asleep" } }), '"run" must be an object with a status'],
    ["a negative seq", (h) => ({ ...h, entries: [{ ...h.entries[0], seq: -1 }] }), '"seq" must be a whole number'],
  ];

  it.each(bad)("%s is refused with a sentence", async (_, change, message) => {
    const history = await record(quote);
    await expect(replay(quote, change(history))).rejects.toThrow(message);
  });

  it("is refused for an actor without a workflow", async () => {
    const registry = setup({ use: { subject: actor({ actions: {} }) } }) as unknown as Registry;
    await expect(replayHistory(registry.find("subject"), await record(quote), host)).rejects.toThrow(
      'The actor "subject" of the registry has no workflow',
    );
  });
});
