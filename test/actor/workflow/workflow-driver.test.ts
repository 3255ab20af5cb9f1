import { describe, expect, it } from "vitest";
import { actor, setup, workflow } from "../../../src/actor/index.js";
import type { World, WorldActor } from "../../../src/testing/index.js";
import { testWorld } from "../../support/test-world.js";
import { single, type Single } from "../subject.js";

/** One alarm, and all that follows from it without time or another alarm. */
async function oneAlarm(world: World, subject: WorldActor): Promise<void> {
  world.clock.moveTo(Math.max(world.clock.now(), subject.store.alarmAt ?? 0));
  await subject.fireAlarm();
  for (let turn = 0; turn < 20; turn += 1) {
    await world.turn();
    world.clock.fireNext();
  }
}

describe("a workflow whose object was evicted while it slept", () => {
  for (const steps of [1, 3, 60]) {
    it(`goes on with one alarm when ${steps} recorded steps stand before the sleep`, async () => {
      const world = testWorld(
        setup({
          use: {
            sleeper: actor({
              state: { woke: 0 },
              run: workflow(async (ctx) => {
                for (let i = 0; i < steps; i += 1) await ctx.step(`step-${i}`, () => i);
                for (let i = 0; i < 3; i += 1) {
                  await ctx.sleep(`pause-${i}`, 3_600_000);
                  await ctx.step(`woke-${i}`, (step) => {
                    step.state.woke += 1;
                  });
                }
              }),
              actions: { woke: (c) => c.state.woke, status: (c) => c.workflow.status().status },
            }),
          },
        }),
      );
      const subject = world.actor("sleeper");
      await subject.call("woke");
      await world.settle();
      for (let i = 0; i < 3; i += 1) {
        expect(subject.holdsLease).toBe(false);
        expect(subject.store.alarmAt).toBeGreaterThan(world.clock.now());
        subject.crash();
        await oneAlarm(world, subject);
      }
      expect(await subject.call("woke")).toBe(3);
      expect(await subject.call("status")).toBe("completed");
      expect(subject.store.alarmAt).toBe(null);
    });
  }
});

describe("a workflow whose code does not match its history", () => {
  const SECOND_MS = 1_000;
  const MINUTE_MS = 60_000;

  /** An actor whose code was changed; `looks` are the times, from the first on, at which its function was called. */
  async function diverged(beforeItShowsMs: number): Promise<Single & { readonly looks: number[] }> {
    let isChanged = false;
    const looks: number[] = [];
    const all = single(
      actor({
        state: { ticks: 0 },
        run: workflow(async (ctx) => {
          if (isChanged) {
            looks.push(all.world.clock.now());
            // Outside of any step, as code may.
            if (beforeItShowsMs > 0) await all.world.clock.delay(beforeItShowsMs);
            await ctx.step("other", () => 1);
          } else {
            await ctx.step("first", () => 1);
            await ctx.sleep("long", MINUTE_MS);
          }
        }),
        actions: {
          every: (c, interval: number) => c.cron.every({ name: "j", interval, action: "tick" }),
          tick: (c) => void (c.state.ticks += 1),
          status: (c) => c.workflow.status().status,
        },
      }),
    );
    await all.subject.call("status");
    await all.world.pass(SECOND_MS);
    await all.subject.evict();
    isChanged = true;
    await all.world.pass(MINUTE_MS);
    return { ...all, looks };
  }

  const waits = (looks: readonly number[]): number[] =>
    looks.slice(1).map((at, index) => (at - (looks[index] ?? 0)) / MINUTE_MS);

  it("is looked at again after 1, 2, 4 … 60 min, though it is evicted between any two", async () => {
    const { world, subject, looks, log } = await diverged(0);
    while (looks.length < 10) {
      await subject.evict();
      await world.pass(30 * SECOND_MS);
    }
    expect(waits(looks)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    expect(log.filter(({ entry }) => entry["code"] === "workflow/history_diverged")).toHaveLength(1);
    expect(await subject.call("status")).toBe("diverged");
  });

  it("waits for that, however often something else starts the object with work to do", async () => {
    const { world, subject, looks } = await diverged(0);
    await subject.call("every", 45 * SECOND_MS);
    while (looks.length < 8) {
      await subject.evict();
      await world.pass(15 * SECOND_MS);
    }
    for (const [index, wait] of waits(looks).entries()) {
      expect(wait).toBeGreaterThanOrEqual(Math.min(60, 2 ** index));
      expect(wait).toBeLessThan(Math.min(60, 2 ** index) + 1);
    }
  });

  it("goes on backing off when each look dies before it has shown what is wrong", async () => {
    const { world, subject, looks, log } = await diverged(2 * SECOND_MS);
    await world.pass(5 * SECOND_MS);
    for (const wait of [1, 2, 4]) {
      const before = looks.length;
      await world.pass(wait * MINUTE_MS - 20 * SECOND_MS);
      expect(looks).toHaveLength(before);
      while (looks.length === before) await world.pass(SECOND_MS);
      // A commit in the middle of it, and the end of the process: the lease brings the look back.
      await subject.call("tick");
      subject.crash();
      await world.pass(15 * SECOND_MS);
      expect(looks).toHaveLength(before + 2);
    }
    expect(log.filter(({ entry }) => entry["code"] === "workflow/history_diverged")).toHaveLength(1);
  });
});
