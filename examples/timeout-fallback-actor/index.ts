import { actor, setup } from "perdure";
import { workflow, type WorkflowStepContextOf } from "perdure/workflow";

/** Answers, but slowly. */
export const primaryServiceActor = actor({
  actions: {
    fetchValue: async () => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      return "primary";
    },
  },
});

export const fallbackServiceActor = actor({
  actions: {
    fetchValue: () => "fallback",
  },
});

/** Gives the primary service 200 ms, then asks the other one. */
export const timeoutFallbackActor = actor({
  state: {
    lastSource: "none" as "none" | "primary" | "fallback",
    lastValue: "",
  },
  run: workflow(async (ctx) => {
    await ctx.loop("timeout-loop", async (loopCtx) => {
      // Its messages are only a signal to refresh; after 30 s without one, it refreshes anyway.
      await loopCtx.queue.nextBatch("wait-request", { timeout: 30_000 });

      // The timer is a durable sleep, and yet it beats a step that is running: the step's signal is aborted, its late
      // answer dropped, and the decision stored. A replay never decides again.
      const { winner, value } = await loopCtx.race("primary-vs-timeout", [
        { name: "primary", run: (branch) => branch.step("call-primary", callPrimary) },
        {
          name: "timeout",
          run: async (branch) => {
            await branch.sleep("primary-timeout", 200);
            return "";
          },
        },
      ]);

      const isLate = winner === "timeout";
      const chosen = isLate ? await loopCtx.step("fallback-call", callFallback) : value;

      await loopCtx.step("record-choice", (step) => {
        step.state.lastSource = isLate ? "fallback" : "primary";
        step.state.lastValue = chosen;
      });
    });
  }),
  actions: {
    getState: (c) => c.state,
    /** The loop has no end: this ends the actor, with all it stored. */
    stop: (c) => c.destroy(),
  },
});

type Step = WorkflowStepContextOf<typeof timeoutFallbackActor>;

function callPrimary(step: Step): Promise<string> {
  return step.client<typeof registry>().primaryServiceActor.getOrCreate(["main"]).fetchValue();
}

function callFallback(step: Step): Promise<string> {
  return step.client<typeof registry>().fallbackServiceActor.getOrCreate(["main"]).fetchValue();
}

export const registry = setup({ use: { timeoutFallbackActor, primaryServiceActor, fallbackServiceActor } });
