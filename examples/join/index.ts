import { actor, queue, setup } from "perdure";
import { workflow } from "perdure/workflow";

/** Three numbers from three services, fetched at the same time, shown together. */
export const dashboardActor = actor({
  state: {
    summary: null as null | { users: number; orders: number; revenue: number },
  },
  queues: {
    refresh: queue<Record<string, never>>(),
  },
  run: workflow(async (ctx) => {
    await ctx.loop("dashboard-loop", async (loopCtx) => {
      await loopCtx.queue.next("wait-refresh");

      // Each branch has names and a history of its own. Cut off in the middle, the join goes on with the branches that
      // are not done; the others' results are stored.
      const summary = await loopCtx.join("fetch-summary", {
        users: { run: (branch) => branch.step("fetch-users", () => fetchCount("users")) },
        orders: { run: (branch) => branch.step("fetch-orders", () => fetchCount("orders")) },
        revenue: { run: (branch) => branch.step("fetch-revenue", () => fetchCount("revenue")) },
      });

      // The join waits for all branches. One that fails is a JoinError that names it.
      await loopCtx.step("save-summary", (step) => {
        step.state.summary = summary;
      });
    });
  }),
  actions: {
    getState: (c) => c.state,
    getHistory: (c) => c.workflow.history(),
  },
});

async function fetchCount(what: string): Promise<number> {
  const response = await fetch(`https://api.example.com/${what}`);
  if (!response.ok) throw new Error(`${what} answered ${response.status}`);
  return ((await response.json()) as { count: number }).count;
}

export const registry = setup({ use: { dashboardActor } });
