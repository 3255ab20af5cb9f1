/** What `node bench/test-world.mjs` measures: many workflows in one world of the testing kit. */
import { actor, setup } from "perdure";
import { testWorld } from "perdure/testing";
import { workflow } from "perdure/workflow";

const STEPS = 10;

/** Runs so many workflows of ten steps to their end, all at once; each sleeps `sleepMs` after every step. */
export async function run(workflows: number, sleepMs: number): Promise<void> {
  const order = actor({
    state: { done: 0 },
    run: workflow(async (ctx) => {
      for (let step = 0; step < STEPS; step += 1) {
        await ctx.step(`step-${step}`, async (c) => void (c.state.done += 1));
        if (sleepMs > 0) await ctx.sleep(`sleep-${step}`, sleepMs);
      }
    }),
    actions: { done: (c) => c.state.done },
  });
  const world = await testWorld(setup({ use: { order } }));
  const orders = Array.from({ length: workflows }, (_, index) => world.client.order.getOrCreate([String(index)]));
  await Promise.all(orders.map((each) => each.done()));
  await world.advance(STEPS * sleepMs);
  await world.idle();
  const done = await Promise.all(orders.map((each) => each.done()));
  if (done.some((steps) => steps !== STEPS)) throw new Error("Some workflow has not run to its end");
  await world.end();
}
