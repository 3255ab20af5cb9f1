import { actor, setup } from "perdure";
import { workflow, type WorkflowStepContextOf } from "perdure/workflow";

interface Task {
  taskId: string;
  workerId: string;
  value: number;
}

export const workerActor = actor({
  actions: {
    runTask: (_c, value: number) => value * 2,
  },
});

/** Takes tasks from its queue and hands each to the worker it names. */
export const coordinatorActor = actor({
  state: {
    lastTaskId: null as string | null,
    lastResult: 0,
  },
  run: workflow(async (ctx) => {
    await ctx.loop("orchestrator-loop", async (loopCtx) => {
      const [message] = await loopCtx.queue.nextBatch("wait-task", { timeout: 30_000 });
      if (!message) return;
      const task = message.body as Task;

      // What the worker answered is stored before anything else happens: after a crash it is not asked again.
      const result = await loopCtx.step("dispatch-rpc", (step) => dispatch(step, task));

      await loopCtx.step("record-result", (step) => {
        step.state.lastTaskId = task.taskId;
        step.state.lastResult = result;
      });
    });
  }),
  actions: {
    getState: (c) => c.state,
    /** The loop has no end: this ends the actor, with all it stored. */
    stop: (c) => c.destroy(),
  },
});

async function dispatch(step: WorkflowStepContextOf<typeof coordinatorActor>, task: Task): Promise<number> {
  // If the worker throws, so does this call, with the worker's code and message; the step is then tried again.
  const client = step.client<typeof registry>();
  return client.workerActor.getOrCreate([task.workerId]).runTask(task.value);
}

export const registry = setup({ use: { coordinatorActor, workerActor } });
