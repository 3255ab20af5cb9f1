import { expect, test } from "vitest";
import { actor, queue, setup } from "../../../src/entry/index.js";
import { testWorld } from "../../../src/entry/testing.js";
import { workflow } from "../../../src/entry/workflow.js";

const report = actor({
  state: { saved: -1 },
  queues: { corrections: queue<number>() },
  run: workflow(async (ctx) => {
    let sum = 0;
    await ctx.step("add", () => {
      sum += 33;
    });
    await ctx.sleep("over night", 8 * 3_600_000);
    await ctx.step("save", (step) => {
      step.state.saved = sum;
    });
    const { body } = await ctx.queue.next("correction", { names: ["corrections"] });
    await ctx.step("correct", (step) => {
      step.state.saved += body;
    });
  }),
  actions: { saved: (c) => c.state.saved },
});
const registry = setup({ use: { report } });

test.each([
  [true, 0],
  [false, 33],
])("evictAtPark: %s, a variable that a step has set is %d after a sleep", async (evictAtPark, saved) => {
  await using world = await testWorld(registry, { evictAtPark });
  const handle = world.client.report.getOrCreate("r");
  await handle.saved();
  await world.advance("8 hours");
  expect(await handle.saved()).toBe(saved);
  await handle.send("corrections", 1);
  await world.idle();
  expect(await handle.saved()).toBe(saved + 1);
});

test("evictAtPark is true or false", async () => {
  await expect(testWorld(registry, { evictAtPark: "yes" } as never)).rejects.toThrow(
    "testWorld(): evictAtPark must be true or false",
  );
});
