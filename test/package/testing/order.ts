// order.ts
import { actor, queue, setup } from "perdure";
import { workflow, type WorkflowStepContextOf } from "perdure/workflow";

const DAY_MS = 24 * 60 * 60 * 1_000;

export const order = actor({
  state: { status: "placed" },
  queues: { approvals: queue<{ by: string }>() },
  run: workflow(async (ctx) => {
    const [approval] = await ctx.queue.nextBatch("approval", { timeout: 7 * DAY_MS });
    if (!approval) return "expired";
    const charge = await ctx.step("charge", (step) => post(step, "charges", { by: approval.body.by }));
    await ctx.step("paid", (step) => {
      step.state.status = "paid";
    });
    // Since June. Orders that were on their way by then follow version 1.
    if ((await ctx.getVersion("insurance", 2)) >= 2) await ctx.step("insure", (step) => post(step, "policies", {}));
    await ctx.sleep("transit", 2 * DAY_MS);
    await ctx.step("mail", (step) => post(step, "mails", { receipt: charge.id }));
    return "delivered";
  }),
  actions: { status: (c) => c.state.status },
});

/** With a key, the service answers a repeated request as it answered the first. */
async function post(step: WorkflowStepContextOf<typeof order>, path: string, body: object): Promise<{ id: string }> {
  const response = await fetch(`https://api.example.com/${path}`, {
    method: "POST",
    headers: { "idempotency-key": `${step.actorId}/${path}` },
    body: JSON.stringify(body),
    signal: step.abortSignal,
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return (await response.json()) as { id: string };
}

export const registry = setup({ use: { order } });
