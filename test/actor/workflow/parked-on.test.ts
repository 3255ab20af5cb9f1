import { describe, expect, it } from "vitest";
import { subject, type Ctx, type Step, type Subject } from "../../workflow/subject.js";

const START = 1_700_000_000_000;
const HOUR = 3_600_000;
const iso = (ms: number): string => new Date(START + ms).toISOString();

/** The sentence while the run is in memory, and with no run, as the rows tell it. */
async function both(s: Subject): Promise<[string | undefined, string | undefined]> {
  const live = (await s.position()).parkedOn?.sentence;
  s.actor.crash();
  return [live, (await s.position()).parkedOn?.sentence];
}

describe("what a workflow is parked on", () => {
  it("is a sleep", async () => {
    const s = await subject(async (ctx) => ctx.sleep("nap", HOUR));
    expect((await s.position()).parkedOn).toEqual({
      sentence: `sleep until ${iso(HOUR)}`,
      activities: [{ kind: "sleep", location: ["nap"], since: START, until: START + HOUR }],
      count: 1,
    });
    expect(await both(s)).toEqual([`sleep until ${iso(HOUR)}`, `sleep until ${iso(HOUR)}`]);
  });

  it("is a message on its queues; of a wait without a deadline, which has no row, only a message", async () => {
    const timed = await subject(async (ctx) => {
      await ctx.queue.next("wait", { names: ["payments", "refunds"], timeout: HOUR });
    });
    const sentence = `message on payments or refunds until ${iso(HOUR)}`;
    expect(await both(timed)).toEqual([sentence, sentence]);
    const endless = await subject(async (ctx) => ctx.queue.next("wait", { names: ["payments"] }));
    expect((await endless.position()).parkedOn?.activities).toEqual([
      { kind: "message", location: ["wait"], since: START, queues: ["payments"] },
    ]);
    expect(await both(endless)).toEqual(["message on payments", "message"]);
    const any = await subject(async (ctx) => ctx.queue.next("wait"));
    expect(await both(any)).toEqual(["message", "message"]);
  });

  it("is a retry, and the attempt that runs", async () => {
    const s = await subject(async (ctx, self) =>
      ctx.step({
        name: "charge",
        retryBackoffBase: 6_000,
        run: async (step: Step) => {
          if (step.attempt < 3) throw new Error("502");
          await self.clock.delay(100);
        },
      }),
    );
    await s.world.pass(12_000);
    expect((await s.position()).parkedOn).toEqual({
      sentence: "retry 2 of charge in 24 s",
      activities: [{ kind: "retry", location: ["charge"], since: START, attempt: 3, at: START + 36_000, error: "502" }],
      count: 1,
    });
    s.actor.crash();
    await s.world.pass(1_000);
    expect((await s.position()).parkedOn?.sentence).toBe("retry 2 of charge in 23 s");
    await s.world.pass(23_050);
    expect((await s.position()).parkedOn).toEqual({
      sentence: `running charge since ${iso(36_000)}`,
      activities: [{ kind: "running", location: ["charge"], since: START + 36_000, attempt: 3 }],
      count: 1,
    });
  });

  it("is a first attempt, which has no row yet, and code between operations", async () => {
    const s = await subject(async (ctx, self) => {
      await ctx.step({ name: "charge", run: () => self.clock.delay(100) });
      await self.clock.delay(100);
    });
    expect((await s.position()).parkedOn?.sentence).toBe(`running charge since ${iso(0)}`);
    await s.world.pass(150);
    expect((await s.position()).parkedOn).toMatchObject({
      sentence: "code between operations",
      activities: [{ kind: "code", location: [] }],
    });
  });

  it("lists what its branches do, work first, then what is due first; sixteen at most", async () => {
    const s = await subject(async (ctx, self) =>
      ctx.join("all", {
        never: { run: (b: Ctx) => b.queue.next("never", { names: ["never"] }) },
        ...Object.fromEntries(
          Array.from({ length: 20 }, (_, i) => [`n${i}`, { run: (b: Ctx) => b.sleep("nap", (20 - i) * HOUR) }]),
        ),
        works: { run: (b: Ctx) => b.step({ name: "work", timeout: 0, run: () => self.clock.delay(10 * HOUR) }) },
      }),
    );
    const { sentence, activities, count } = (await s.position()).parkedOn ?? {};
    expect(sentence).toBe(`running work since ${iso(0)}, and 21 more`);
    expect(count).toBe(22);
    expect(activities).toHaveLength(16);
    expect(activities?.slice(0, 3).map(({ location }) => location)).toEqual([
      ["all", "works", "work"],
      ["all", "n19", "nap"],
      ["all", "n18", "nap"],
    ]);
  });

  it("names a handler of the rollback by the step that it undoes", async () => {
    const s = await subject(async (ctx, self) => {
      await ctx.rollbackCheckpoint("from here");
      await ctx.step({
        name: "charge",
        run: () => 1,
        rollback: async (step: Step) => {
          await self.clock.delay(100);
          if (step.attempt === 1) throw new Error("502");
        },
      });
      throw new Error("no");
    });
    expect((await s.position()).parkedOn).toMatchObject({
      sentence: `undoing charge since ${iso(0)}`,
      activities: [{ kind: "running", location: ["charge"], isRollback: true }],
    });
    await s.world.pass(150);
    expect((await s.position()).parkedOn?.sentence).toBe("undoing, retry 1 of charge in 1 s");
    await s.world.passUntilQuiet();
    expect(await s.position()).not.toHaveProperty("parkedOn");
  });

  it("writes nothing and reads the same when asked again", async () => {
    const s = await subject(async (ctx) => ctx.queue.next("wait", { timeout: HOUR }));
    const { commits } = s.actor.store;
    expect(await s.position()).toEqual(await s.position());
    expect(s.actor.store.commits).toBe(commits);
  });
});
