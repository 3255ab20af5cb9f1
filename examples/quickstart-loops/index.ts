import { actor, queue, setup } from "perdure";
import { workflow, type WorkflowStepContextOf } from "perdure/workflow";

/** A counter that is changed by messages only, one after the other. */
export const workflowCounter = actor({
  state: {
    value: 0,
    processed: 0,
    lastOperationId: null as string | null,
  },
  queues: {
    counter: queue<{ delta: number }>(),
  },
  run: workflow(async (ctx) => {
    // The loop's position is stored: a restart enters the iteration that was cut off, never a finished one. Old
    // iterations are deleted from the history, so iteration 1,000,000 costs what iteration 100 does.
    await ctx.loop("counter-loop", async (loopCtx) => {
      // Waiting costs nothing: the object sleeps until a message comes. Taking the message and recording that it was
      // taken are one write, so it is neither lost nor seen twice.
      const message = await loopCtx.queue.next("wait-counter-command");
      await loopCtx.step("apply-counter-command", (step) => apply(step, message.body.delta));
    });
  }),
  actions: {
    getState: (c) => c.state,
  },
});

async function apply(step: WorkflowStepContextOf<typeof workflowCounter>, delta: number): Promise<void> {
  const response = await fetch("https://api.example.com/counter/apply", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ value: step.state.value, delta }),
  });
  if (!response.ok) throw new Error(`counter/apply answered ${response.status}`);
  const result = (await response.json()) as { nextValue: number; operationId: string };
  // A step may run again if the server dies in it. What it changes after its last await happens exactly once.
  step.state.value = result.nextValue;
  step.state.lastOperationId = result.operationId;
  step.state.processed += 1;
}

export const registry = setup({ use: { workflowCounter } });
