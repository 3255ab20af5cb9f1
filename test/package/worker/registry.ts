import { actor, setup } from "perdure";
import { workflow } from "perdure/workflow";

export const visits = actor({
  state: { count: 0, digest: "" },
  run: workflow(async (ctx) => {
    await ctx.loop("daily", async (loop) => {
      await loop.sleep("a day", 24 * 60 * 60 * 1000);
      await loop.step("digest", (step) => {
        step.state.digest = `${step.state.count} visits`;
      });
    });
  }),
  actions: { add: (c, by: number) => (c.state.count += by) },
});

export const registry = setup({ use: { visits } });
registry.start();
