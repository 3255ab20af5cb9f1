/** Actors that the tests crash and look at. */
import { actor, queue, setup } from "../../../src/entry/index.js";
import { workflow } from "../../../src/entry/workflow.js";

const order = actor({
  state: { status: "open" },
  queues: { approvals: queue<{ by: string }>(), notes: queue<string>() },
  vars: { visits: 0 },
  run: workflow(async (ctx) => {
    const approval = await ctx.queue.next("approval", { names: ["approvals"], completable: true });
    await ctx.sleep("cool-off", 3_600_000);
    const receipt = await ctx.step("pay", (step) => {
      step.state.status = "paid";
      step.log.info({ msg: "paid", by: approval.body.by });
      return { by: approval.body.by };
    });
    await approval.complete();
    return receipt;
  }),
  actions: {
    status: (c) => c.state.status,
    visits: (c) => (c.vars.visits += 1),
    set: (c, status: string) => void (c.state.status = status),
    remindIn: (c, ms: number, who: string) => c.schedule.after(ms, "remind", who),
    remind: (c, who: string) => {
      c.log.warn(`reminding ${who}`);
    },
    digest: (c) => c.cron.every({ name: "digest", interval: 600_000, action: "remind", args: ["all"] }),
    end: (c) => c.destroy(),
  },
});

export const shop = setup({ use: { order } });

/** The same actor, whose workflow has another step in place of the sleep. */
export const changedShop = setup({
  use: {
    order: actor({
      state: { status: "open" },
      queues: { approvals: queue<{ by: string }>() },
      run: workflow(async (ctx) => {
        await ctx.queue.next("approval", { names: ["approvals"] });
        await ctx.step("warm-up", () => 1);
      }),
      actions: { status: (c) => c.state.status, version: () => 2 },
    }),
  },
});
