import { actor, setup } from "../../src/entry/index.js";
import { workflow } from "../../src/entry/workflow.js";

/** Fixture actors of the tests that run in workerd. */
export const counter = actor({
  state: { n: 0 },
  actions: {
    add: (c, by: number) => {
      c.state.n += by;
      return c.state.n;
    },
    get: (c) => c.state.n,
  },
});

/** A workflow of `steps` steps with a sleep of an hour between them; each step changes state last. */
export const walker = actor({
  state: { done: [] as string[] },
  run: workflow(async (ctx) => {
    for (let i = 0; i < 3; i += 1) {
      await ctx.step(`step-${i}`, async (step) => {
        await scheduler.wait(1);
        step.state.done.push(`step-${i}`);
      });
      await ctx.sleep(`pause-${i}`, 3_600_000);
    }
    return "walked";
  }),
  actions: { get: (c) => c.state, status: (c) => c.workflow.status() },
});

export const registry = setup({ use: { counter, walker } });
