import { actor, setup } from "perdure";
import { workflow, type WorkflowStepContextOf } from "perdure/workflow";

/** One part of the work; each key is an actor, an object and a place of its own. */
export const shardActor = actor({
  actions: {
    compute: (_c, input: number) => input * 10,
  },
});

/** Asks three shards at the same time and adds up their answers. */
export const scatterGatherActor = actor({
  state: {
    lastSum: 0,
  },
  run: workflow(async (ctx) => {
    await ctx.loop("scatter-gather-loop", async (loopCtx) => {
      const [message] = await loopCtx.queue.nextBatch("wait-scatter", { timeout: 30_000 });
      if (!message) return;
      const { input } = message.body as { input: number };

      const gathered = await loopCtx.join("gather", {
        shardA: { run: (branch) => branch.step("call-shard-a", (step) => compute(step, "a", input)) },
        shardB: { run: (branch) => branch.step("call-shard-b", (step) => compute(step, "b", input)) },
        shardC: { run: (branch) => branch.step("call-shard-c", (step) => compute(step, "c", input)) },
      });

      await loopCtx.step("aggregate", (step) => {
        step.state.lastSum = gathered.shardA + gathered.shardB + gathered.shardC;
      });
    });
  }),
  actions: {
    getState: (c) => c.state,
    /** The loop has no end: this ends the actor, with all it stored. */
    stop: (c) => c.destroy(),
  },
});

async function compute(
  step: WorkflowStepContextOf<typeof scatterGatherActor>,
  shard: string,
  input: number,
): Promise<number> {
  // The call goes from object to object, without HTTP, and makes the shard if it does not exist. A step that is cut off
  // calls again, so what it calls must bear being called twice.
  const client = step.client<typeof registry>();
  return client.shardActor.getOrCreate([shard]).compute(input);
}

export const registry = setup({ use: { scatterGatherActor, shardActor } });
