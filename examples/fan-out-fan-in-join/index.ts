import { actor, setup } from "perdure";
import { workflow } from "perdure/workflow";

/** Fans one request out to three services and merges what they answer. */
export const fanInOutActor = actor({
  state: {
    total: 0,
  },
  run: workflow(async (ctx) => {
    await ctx.loop("join-loop", async (loopCtx) => {
      // No `queues` are declared, so a message of any name will do. Without one for 30 s the batch is empty: the wait
      // ends at a stored time, and the object sleeps until then.
      const [message] = await loopCtx.queue.nextBatch("wait-refresh", { timeout: 30_000 });
      if (!message) return;

      const counts = await loopCtx.join("parallel-work", {
        users: { run: (branch) => branch.step("fetch-users", () => fetchCount("users")) },
        orders: { run: (branch) => branch.step("fetch-orders", () => fetchCount("orders")) },
        invoices: { run: (branch) => branch.step("fetch-invoices", () => fetchCount("invoices")) },
      });

      await loopCtx.step("merge-results", (step) => {
        step.state.total = counts.users + counts.orders + counts.invoices;
      });
    });
  }),
  actions: {
    getState: (c) => c.state,
    /** The loop has no end: this ends the actor, with all it stored. */
    stop: (c) => c.destroy(),
  },
});

async function fetchCount(what: string): Promise<number> {
  const response = await fetch(`https://api.example.com/${what}`);
  if (!response.ok) throw new Error(`${what} answered ${response.status}`);
  return ((await response.json()) as { count: number }).count;
}

export const registry = setup({ use: { fanInOutActor } });
