import { describe, expect, it } from "vitest";
import { encodeValue } from "../../src/protocol/index.js";
import { Loop } from "../../src/workflow/index.js";
import { encodeEntry } from "../../src/workflow/internal.js";
import { subject, type Ctx, type Step, type Subject } from "./subject.js";
import type { WorkflowHistoryEntry } from "../../src/actor/index.js";

const START = 1_700_000_000_000;

async function at(s: Subject, name: string): Promise<WorkflowHistoryEntry> {
  const found = (await s.history()).find(({ location }) => location.at(-1) === name);
  if (!found) throw new Error(`no entry ${name}`);
  return found;
}

/** Times from the start of the test's clock. */
async function timesOf(s: Subject, name: string): Promise<(number | undefined)[]> {
  const { startedAt, endedAt } = await at(s, name);
  return [startedAt, endedAt].map((time) => time && time - START);
}

describe("times of entries", () => {
  it("are those of the operation, live as after a restart", async () => {
    const s = await subject(async (ctx, self) => {
      await ctx.step("quick", () => 1);
      await ctx.sleep("nap", 1_000);
      await ctx.step({ name: "slow", timeout: 0, run: () => self.clock.delay(250) });
      await ctx.queue.nextBatch("none", { timeout: 500 });
      await ctx.getVersion("gate", 2);
      await ctx.sleep("last", 100);
      await ctx.queue.next("never");
    });
    await s.world.pass(10_000);
    const check = async (): Promise<void> => {
      expect(await timesOf(s, "quick")).toEqual([0, 0]);
      expect(await timesOf(s, "nap")).toEqual([0, 1_000]);
      expect(await timesOf(s, "slow")).toEqual([1_000, 1_250]);
      expect(await timesOf(s, "none")).toEqual([1_250, 1_750]);
      expect(await timesOf(s, "gate")).toEqual([1_750, 1_750]);
      expect(await timesOf(s, "last")).toEqual([1_750, 1_850]);
    };
    await check();
    const rows = s.actor.store.dump();
    await s.world.pass(60_000);
    await s.restart();
    await s.replay();
    await check();
    for (const [key, bytes] of rows) if (key.startsWith("e/")) expect(s.actor.store.dump().get(key)).toEqual(bytes);
  });

  it("end a wait at its deadline, however late the actor wakes", async () => {
    const s = await subject(async (ctx) => {
      await ctx.sleep("nap", 1_000);
      await ctx.step("after", () => 1);
      await ctx.sleep("marked", 1_000);
      await ctx.queue.next("never");
    });
    s.actor.crash();
    s.clock.moveTo(START + 5_000);
    await s.call("get");
    await s.world.settle();
    expect(await timesOf(s, "nap")).toEqual([0, 1_000]);
    expect(await timesOf(s, "after")).toEqual([5_000, 5_000]);
    await s.world.pass(1_000);
    expect(await timesOf(s, "marked")).toEqual([5_000, 6_000]);
  });

  it("tell the last attempt of a step, and its last five failed ones", async () => {
    const long = "x".repeat(1_000);
    const s = await subject(async (ctx) => {
      await ctx.step({
        name: "flaky",
        maxRetries: 9,
        retryBackoffBase: 100,
        retryBackoffMax: 100,
        run: (step: Step) => {
          if (step.attempt < 8) throw Object.assign(new Error(`${step.attempt}${long}`), { name: `E${long}` });
          return step.attempt;
        },
      });
      await ctx.queue.next("never");
    });
    await s.world.pass(60_000);
    await s.restart();
    const flaky = await at(s, "flaky");
    expect(flaky).toMatchObject({ startedAt: START, endedAt: START + 700, attemptStartedAt: START + 700, attempts: 8 });
    expect(flaky.failedAttempts?.map(({ attempt, startedAt, ms }) => [attempt, startedAt - START, ms])).toEqual(
      [3, 4, 5, 6, 7].map((attempt) => [attempt, (attempt - 1) * 100, 0]),
    );
    for (const { name, message, attempt } of flaky.failedAttempts ?? []) {
      expect(message).toBe(`${attempt}${long.slice(0, 298)}…`);
      expect(name).toHaveLength(100);
    }
  });

  it("keep the last attempt of a step that failed for good, with how long it took", async () => {
    const s = await subject(async (ctx, self) => {
      await ctx.tryStep({
        name: "bad",
        maxRetries: 1,
        retryBackoffBase: 50,
        run: async (step: Step) => {
          await self.clock.delay(20 * step.attempt);
          throw new TypeError(`no ${step.attempt}`);
        },
      });
      await ctx.queue.next("never");
    });
    await s.world.pass(60_000);
    expect((await at(s, "bad")).failedAttempts).toEqual([
      { attempt: 1, startedAt: START, ms: 20, name: "TypeError", message: "no 1" },
      { attempt: 2, startedAt: START + 120, ms: 40, name: "TypeError", message: "no 2" },
    ]);
  });

  it("have no negative length when the clock goes backwards", async () => {
    const s = await subject(async (ctx, self) => {
      await ctx.step("back", (step: Step) => {
        self.clock.moveTo(START - 5_000);
        if (step.attempt === 1) throw new Error("again");
        return self.clock.now();
      });
      await ctx.sleepUntil("past", START - 100_000);
    });
    await s.world.passUntilQuiet();
    expect((await at(s, "back")).value).toBeLessThan(START);
    for (const entry of await s.history()) {
      expect(entry.endedAt).toBeGreaterThanOrEqual(entry.startedAt as number);
      for (const { ms } of entry.failedAttempts ?? []) expect(ms).toBeGreaterThanOrEqual(0);
    }
    const { startedAt, endedAt } = await s.position();
    expect(endedAt).toBeGreaterThanOrEqual(startedAt as number);
  });

  it("of what recover runs again begin then; what stays keeps its own", async () => {
    let isBroken = true;
    const s = await subject(async (ctx) => {
      await ctx.step("kept", () => 1);
      await ctx.join("both", {
        bad: {
          run: (b: Ctx) =>
            b.step({
              name: "bad",
              maxRetries: 1,
              retryBackoffBase: 100,
              run: () => {
                if (isBroken) throw new Error("no");
              },
            }),
        },
        nap: { run: (b: Ctx) => b.sleep("nap", 50) },
      });
      await ctx.sleep("end", 50);
    });
    await s.world.pass(10_000);
    expect(await s.position()).toMatchObject({ status: "failed", startedAt: START, endedAt: START + 200 });
    isBroken = false;
    await s.call("recover");
    await s.world.settle();
    expect(await s.position()).toMatchObject({ status: "running", startedAt: START });
    expect(await s.position()).not.toHaveProperty("endedAt");
    await s.world.pass(50);
    expect(await timesOf(s, "kept")).toEqual([0, 0]);
    expect(await timesOf(s, "nap")).toEqual([0, 50]);
    expect(await timesOf(s, "both")).toEqual([10_000, 10_000]);
    const bad = await at(s, "bad");
    expect(bad).toMatchObject({ startedAt: START + 10_000, attemptStartedAt: START + 10_000 });
    expect(bad.failedAttempts).toBeUndefined();
    expect(await s.position()).toMatchObject({ status: "completed", startedAt: START, endedAt: START + 10_050 });
    await s.world.pass(450);
    await s.call("replayFrom");
    await s.world.settle();
    expect(await timesOf(s, "kept")).toEqual([10_500, 10_500]);
    expect(await s.position()).toMatchObject({ startedAt: START + 10_500 });
  });

  it("of rows without times are absent, and an upgraded step goes on", async () => {
    const program = async (ctx: Ctx): Promise<void> => {
      await ctx.step("done", () => 1);
      await ctx.step({
        name: "waits",
        maxRetries: 5,
        retryBackoffBase: 1_000,
        run: (step: Step) => {
          if (step.attempt < 3) throw new Error("no");
        },
      });
      await ctx.sleep("nap", 1_000);
    };
    const s = await subject(program);
    const rows = s.actor.store.dump();
    for (const entry of s.stored()) {
      const { startedAt: _, ms: __, attemptStartedAt: ___, failedAttempts: ____, ...old } = entry;
      rows.set(`e/${entry.seq}`, encodeEntry(old));
    }
    const { alarmAt } = s.actor.store;
    s.actor.crash();
    s.actor.store.restore(rows, alarmAt);
    expect(await at(s, "done")).not.toHaveProperty("startedAt");
    await s.world.passUntilQuiet();
    expect(await at(s, "done")).not.toHaveProperty("endedAt");
    const waits = await at(s, "waits");
    expect(waits).toMatchObject({ status: "completed", attemptStartedAt: START + 6_000 });
    expect(waits.failedAttempts?.map(({ attempt }) => attempt)).toEqual([2]);
    expect(waits).not.toHaveProperty("endedAt");
    expect(await timesOf(s, "nap")).toEqual([6_000, 7_000]);
  });

  it("take 12 or 13 bytes of a row, and no row of their own", async () => {
    const s = await subject(async (ctx) => {
      await ctx.step("a", () => 1);
      await ctx.loop({ name: "l", state: 0, run: async (l: Ctx) => (await l.step("s", () => 1), Loop.break(1)) });
      await ctx.queue.next("never");
    });
    for (const entry of s.stored()) {
      const { startedAt: _, ms: __, ...plain } = entry;
      expect(encodeEntry(entry).byteLength - encodeEntry(plain).byteLength).toBeLessThanOrEqual(13);
    }
    expect(s.stored()).toHaveLength(3);
    expect(encodeValue([START, 5]).byteLength).toBe(11);
  });
});
