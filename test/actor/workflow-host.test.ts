import { describe, expect, it } from "vitest";
import { actor, setup, workflow } from "../../src/actor/index.js";
import type { World, WorldActor } from "../../src/testing/index.js";
import { testWorld } from "../support/test-world.js";

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
        expect(subject.store.keys).not.toContain("l");
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
