import { actor, queue, setup } from "perdure";
import { workflow } from "perdure/workflow";

const DAY_MS = 24 * 60 * 60 * 1_000;

/** An item that is sold to the first bid, or expires after a day without one. */
export const auctionActor = actor({
  state: { result: null as "sold" | "expired" | null },
  queues: {
    bids: queue<{ amount: number }>(),
  },
  run: workflow(async (ctx) => {
    await ctx.step("list-item", () => post("auctions/item-123", {}));

    // The day is one stored time. While both branches wait, nothing of this actor is in memory.
    const { winner } = await ctx.race("bid-or-expire", [
      { name: "bid", run: async (branch) => (await branch.queue.next("wait-bid")).body.amount },
      {
        name: "expire",
        run: async (branch) => {
          await branch.sleep("auction-timeout", DAY_MS);
          return 0;
        },
      },
    ]);

    // The winner is decided once and stored, together with the end of the losers: their timers are gone, and a bid that
    // comes too late stays in the queue.
    await ctx.step("finalize", async (step) => {
      await post("auctions/item-123/finalize", { outcome: winner });
      step.state.result = winner === "bid" ? "sold" : "expired";
    });
  }),
  actions: {
    getState: (c) => c.state,
    getStatus: (c) => c.workflow.status(),
  },
});

async function post(path: string, body: unknown): Promise<void> {
  const response = await fetch(`https://api.example.com/${path}`, { method: "POST", body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
}

export const registry = setup({ use: { auctionActor } });
