// order.ts
import { actor, queue, setup } from "perdure";
import { workflow } from "perdure/workflow";

const DAY_MS = 24 * 60 * 60 * 1_000;

export const order = actor({
  state: { status: "placed" },
  queues: { approvals: queue<{ by: string }>() },
  run: workflow(async (ctx) => {
    const [approval] = await ctx.queue.nextBatch("approval", { timeout: 7 * DAY_MS });
    if (!approval) return "expired";
    await ctx.step("charge", async () => {
      const response = await fetch("https://api.example.com/charges", { method: "POST" });
      return (await response.json()) as { id: string };
    });
    await ctx.step("paid", (step) => {
      step.state.status = "paid";
    });
    await ctx.sleep("transit", 2 * DAY_MS);
    return "delivered";
  }),
  actions: { status: (c) => c.state.status },
});

export const registry = setup({ use: { order } });
