import { actor, queue, setup } from "perdure";
import { workflow, type WorkflowStepContextOf } from "perdure/workflow";

/** Charges cards at a provider that fails and hangs. */
export const timeoutActor = actor({
  state: {
    lastChargeId: null as string | null,
    /** Every attempt that began, of all charges. */
    attempts: [] as string[],
  },
  queues: {
    charge: queue<{ orderId: string }>(),
  },
  run: workflow(async (ctx) => {
    await ctx.loop("charge-loop", async (loopCtx) => {
      const { body: order } = await loopCtx.queue.next("wait-charge");

      const chargeId = await loopCtx.step({
        name: "charge-card",
        timeout: 2_500,
        // A timeout ends a step at once, unless this makes it a failure like any other.
        retryOnTimeout: true,
        maxRetries: 5,
        // The delay doubles up to the maximum. It is a stored time: a restart does not begin it anew.
        retryBackoffBase: 200,
        retryBackoffMax: 2_000,
        run: (step) => charge(step, order.orderId),
      });

      await loopCtx.step("save-charge", (step) => {
        step.state.lastChargeId = chargeId;
      });
    });
  }),
  actions: {
    getState: (c) => c.state,
    getHistory: (c) => c.workflow.history(),
  },
});

async function charge(step: WorkflowStepContextOf<typeof timeoutActor>, orderId: string): Promise<string> {
  // Roll-forward: what a failed attempt changed stays, and the next attempt finds it.
  step.state.attempts.push(`${orderId}: attempt ${step.attempt}`);
  const response = await fetch("https://api.example.com/charges", {
    method: "POST",
    // The same for every attempt, so that the provider charges once.
    headers: { "content-type": "application/json", "idempotency-key": orderId },
    body: JSON.stringify({ orderId, attempt: step.attempt }),
    // Aborted when the attempt times out; what it would still give is dropped.
    signal: step.abortSignal,
  });
  if (!response.ok) throw new Error(`charges answered ${response.status}`);
  return ((await response.json()) as { chargeId: string }).chargeId;
}

export const registry = setup({ use: { timeoutActor } });
