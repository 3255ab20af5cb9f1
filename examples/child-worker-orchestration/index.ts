import { actor, setup } from "perdure";
import { workflow, type WorkflowStepContextOf } from "perdure/workflow";

export const childWorkerActor = actor({
  state: { calls: 0 },
  actions: {
    process: (c, payload: number) => {
      // Stored before the answer leaves, so nobody sees a result that a crash could still undo.
      c.state.calls += 1;
      return payload * 3;
    },
    getState: (c) => c.state,
  },
});

/** Starts three children once, then sends each batch to all of them. */
export const orchestratorActor = actor({
  state: {
    lastTotal: 0,
  },
  run: workflow(async (ctx) => {
    // Once in the orchestrator's life: the loop below may run for years, over many deploys.
    await ctx.step("start-children", async (step) => {
      for (const id of CHILDREN) await runChild(step, id, 0);
    });

    await ctx.loop("orchestrate-loop", async (loopCtx) => {
      const [message] = await loopCtx.queue.nextBatch("wait-batch", { timeout: 30_000 });
      if (!message) return;
      const { payload } = message.body as { payload: number };

      const results = await loopCtx.join("collect-updates", {
        a: { run: (branch) => branch.step("run-child-a", (step) => runChild(step, "child-a", payload)) },
        b: { run: (branch) => branch.step("run-child-b", (step) => runChild(step, "child-b", payload)) },
        c: { run: (branch) => branch.step("run-child-c", (step) => runChild(step, "child-c", payload)) },
      });

      await loopCtx.step("reconcile", (step) => {
        step.state.lastTotal = results.a + results.b + results.c;
      });
    });
  }),
  actions: {
    getState: (c) => c.state,
    /** The loop has no end: this ends the actor, with all it stored. */
    stop: (c) => c.destroy(),
  },
});

const CHILDREN = ["child-a", "child-b", "child-c"] as const;

async function runChild(
  step: WorkflowStepContextOf<typeof orchestratorActor>,
  id: (typeof CHILDREN)[number],
  payload: number,
): Promise<number> {
  // An orchestrator has children of its own: its key is part of theirs. A key is a list of parts, never a joined string.
  const child = step.client<typeof registry>().childWorkerActor.getOrCreate([...step.key, id]);
  return child.process(payload);
}

export const registry = setup({ use: { orchestratorActor, childWorkerActor } });
