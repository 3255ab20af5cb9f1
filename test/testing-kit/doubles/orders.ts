/** Actors whose steps the tests replace. */
import { actor, queue, setup } from "../../../src/entry/index.js";
import { Loop, workflow } from "../../../src/entry/workflow.js";

/** Callbacks of steps that have really run, in their order. */
export class Real {
  readonly ran: string[] = [];

  ran1(name: string): string {
    this.ran.push(name);
    return `real ${name}`;
  }
}

// oxlint-disable-next-line typescript/explicit-function-return-type -- inferred, as users' are
export function orders(real: Real) {
  return setup({
    use: {
      order: actor({
        state: { shipped: false, refunds: 0 },
        queues: { approvals: queue<{ by: string }>() },
        run: workflow(async (ctx) => {
          const charged = await ctx.step("charge", () => real.ran1("charge") as unknown);
          await ctx.step({ name: "ship", timeout: 5_000, retryOnTimeout: true, run: () => real.ran1("ship") });
          return charged;
        }),
        actions: { state: (c) => c.state },
      }),
      poller: actor({
        state: {},
        run: workflow(async (ctx) => {
          const found = await ctx.loop("poll", async (each) => {
            const status = await each.step("check", () => real.ran1("check"));
            if (status !== "pending") return Loop.break(status);
            await each.sleep("pause", 60_000);
            return Loop.continue(undefined);
          });
          const both = await ctx.join("both", {
            left: { run: (branch) => branch.step("tell", () => real.ran1("left")) },
            right: { run: (branch) => branch.step("tell", () => real.ran1("right")) },
          });
          return [found, both];
        }),
        actions: {},
      }),
      saga: actor({
        state: {},
        run: workflow(async (ctx) => {
          await ctx.rollbackCheckpoint("undo from here");
          await ctx.step({
            name: "book",
            run: () => real.ran1("book"),
            rollback: () => void real.ran1("cancel"),
            maxRetries: 1,
          });
          await ctx.step({ name: "pay", run: () => real.ran1("pay"), maxRetries: 0 });
        }),
        actions: { recover: (c) => c.workflow.recover() },
      }),
    },
  });
}
