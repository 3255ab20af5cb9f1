import { actor, queue, setup } from "perdure";
import { Loop, workflow, type WorkflowStepContextOf } from "perdure/workflow";

/** Opens a session, works through messages, and closes the session when it is told to stop. */
export const setupRunTeardownActor = actor({
  state: {
    phase: "idle" as "idle" | "running" | "stopped",
    total: 0,
    processed: 0,
    stopReason: null as string | null,
    workerSessionId: null as string | null,
  },
  queues: {
    work: queue<{ amount: number }>(),
    control: queue<{ type: "stop"; reason: string }>(),
  },
  run: workflow(async (ctx) => {
    // Before the loop: once in the actor's life, however often the server restarts in the middle of the loop.
    await ctx.step("setup", openSession);

    const reason = await ctx.loop("worker-loop", async (loopCtx) => {
      // Messages come in the order in which they were sent, over both queues.
      const message = await loopCtx.queue.next("wait-command", { names: ["work", "control"] });
      if (message.name === "control") return Loop.break(message.body.reason);
      const { amount } = message.body;
      await loopCtx.step("apply-work", (step) => processWork(step, amount));
      return undefined;
    });

    // The loop's value is stored with its end, like a step's.
    await ctx.step("teardown", (step) => closeSession(step, reason));
  }),
  actions: {
    getState: (c) => c.state,
  },
});

type Step = WorkflowStepContextOf<typeof setupRunTeardownActor>;

async function openSession(step: Step): Promise<void> {
  const { sessionId } = await call<{ sessionId: string }>("POST", "workers/session");
  Object.assign(step.state, { workerSessionId: sessionId, phase: "running", stopReason: null });
}

async function processWork(step: Step, amount: number): Promise<void> {
  const { appliedAmount } = await call<{ appliedAmount: number }>("POST", "workers/process", {
    sessionId: step.state.workerSessionId,
    amount,
  });
  step.state.total += appliedAmount;
  step.state.processed += 1;
}

async function closeSession(step: Step, reason: string): Promise<void> {
  await call("DELETE", `workers/session/${step.state.workerSessionId}`);
  Object.assign(step.state, { phase: "stopped", stopReason: reason });
}

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`https://api.example.com/${path}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`);
  return (await response.json()) as T;
}

export const registry = setup({ use: { setupRunTeardownActor } });
