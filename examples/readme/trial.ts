import { actor, queue, setup } from "perdure";
import { workflow } from "perdure/workflow";

const DAY_MS = 24 * 60 * 60 * 1_000;

/** A trial account: ends with the first payment, or after 14 days without one. */
export const trial = actor({
  state: { status: "trial" as "trial" | "paid" | "expired", mails: 0 },
  queues: { payments: queue<{ amount: number }>() },
  run: workflow(async (ctx) => {
    // Tried again if it fails. Its result and its change of state are one write; done once, it is never run again.
    await ctx.step("welcome", async (step) => {
      await mail(step.key, "Welcome!");
      step.state.mails += 1;
    });

    // Fourteen days in which nothing runs and nothing is billed. Deploys and crashes do not matter.
    const [payment] = await ctx.queue.nextBatch("wait-payment", { timeout: 14 * DAY_MS });

    await ctx.step("decide", (step) => {
      step.state.status = payment ? "paid" : "expired";
    });
  }),
  actions: { getState: (c) => c.state },
});

/** Here goes your mail provider. */
async function mail(account: string[], text: string): Promise<void> {
  console.log(`Mail to ${account.join(", ")}: ${text}`);
}

export const registry = setup({ use: { trial } });
