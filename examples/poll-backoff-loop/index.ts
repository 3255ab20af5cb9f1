import { actor, setup } from "perdure";
import { workflow } from "perdure/workflow";

/** Polls for ever: every second while all is well, ever more slowly while it is not. */
export const pollBackoffActor = actor({
  state: {
    attempts: 0,
    backoffMs: 100,
    status: "unknown" as "unknown" | "healthy" | "retrying",
  },
  run: workflow(async (ctx) => {
    // A loop without an end is as cheap as its current iteration: finished ones are pruned from storage.
    await ctx.loop("poll-loop", async (loopCtx) => {
      const isHealthy = await loopCtx.step("poll-target", async (step) => {
        step.state.attempts += 1;
        return pollTarget(step.state.attempts);
      });

      if (isHealthy) {
        await loopCtx.step("reset-backoff", (step) => {
          step.state.status = "healthy";
          step.state.backoffMs = 100;
        });
        await loopCtx.sleep("healthy-interval", 1_000);
        return;
      }

      // The delay comes out of a step, so that a replay waits for as long as the first run did.
      const delayMs = await loopCtx.step("grow-backoff", (step) => {
        step.state.status = "retrying";
        step.state.backoffMs = Math.min(step.state.backoffMs * 2, 5_000);
        return step.state.backoffMs;
      });
      await loopCtx.sleep("retry-delay", delayMs);
    });
  }),
  actions: {
    getState: (c) => c.state,
    /** The loop has no end: this ends the actor, with all it stored. */
    stop: (c) => c.destroy(),
  },
});

/** Every third time it is there. */
async function pollTarget(attempt: number): Promise<boolean> {
  return attempt % 3 === 0;
}

export const registry = setup({ use: { pollBackoffActor } });
