// Helpers that take the step context of the very actor that calls them: the shapes of RivetKit's documentation. The actor's
// type does not depend on what the workflow does, so the compiler need not look at it.
import { actor, queue, setup, type ActionContextOf, type RunContextOf } from "perdure";
import {
  Loop,
  workflow,
  type WorkflowContextOf,
  type WorkflowErrorEvent,
  type WorkflowStepContextOf,
} from "perdure/workflow";
import { exactly } from "./exactly.js";

export const worker = actor({ actions: { compute: async (_c, input: number) => input * 10 } });

export const everyShape = actor({
  state: { phase: "idle" as "idle" | "running" | "stopped", total: 0, lastSource: null as string | null },
  queues: { work: queue<{ amount: number }>(), control: queue<{ type: "stop"; reason: string }>() },
  run: workflow(
    async (ctx) => {
      // in a step at the root, as an expression, awaited, with the result used, and as the callback itself
      await ctx.step("setup", async (step) => prepare(step));
      const phase = await ctx.step("read", async (step) => await read(step));
      exactly<"idle" | "running" | "stopped">()(phase);
      await ctx.step("whole", prepare);
      await ctx.step({
        name: "config",
        run: async (step) => add(step, 1),
        rollback: (step, total) => subtract(step, total),
      });

      // in a loop, with the loop's value handed on
      const reason = await ctx.loop("loop", async (loop) => {
        const message = await loop.queue.next("command", { names: ["work", "control"] });
        if (message.name === "work") {
          const work = message.body;
          await loop.step("work", async (step) => add(step, work.amount));
          return;
        }
        if (message.body.type === "stop") return Loop.break(message.body.reason);
      });
      exactly<string>()(reason);

      // in the branches of a join and a race, and in a try
      const gathered = await ctx.join("gather", {
        a: { run: async (branch) => await branch.step("call-a", async (step) => callWorker(step, "a", phase.length)) },
        b: { run: async (branch) => await branch.step("call-b", async (step) => callWorker(step, "b", 2)) },
      });
      exactly<{ a: number; b: number }>()(gathered);
      const winner = await ctx.race("race", [
        { name: "primary", run: async (branch) => await branch.step("call", async (step) => callWorker(step, "a", 1)) },
        {
          name: "timeout",
          run: async (branch) => {
            await branch.sleep("timeout", 200);
            return 0;
          },
        },
      ]);
      exactly<number>()(winner.value);
      const tried = await ctx.tryStep("try", async (step) => callWorker(step, "b", 1));
      if (tried.ok) exactly<number>()(tried.value);

      // helpers that take the workflow context
      exactly<number>()(await inWorkflow(ctx, gathered.a));
      await ctx.step("teardown", async (step) => finish(step, reason));
    },
    {
      onError: (c, event) => {
        report(c, event);
      },
    },
  ),
  actions: {
    getState: (c) => c.state,
    total: (c) => total(c),
    nested: { phase: async (c) => (await later(c)).length },
  },
});

async function prepare(ctx: WorkflowStepContextOf<typeof everyShape>): Promise<void> {
  ctx.state.phase = "running";
}
async function read(ctx: WorkflowStepContextOf<typeof everyShape>): Promise<"idle" | "running" | "stopped"> {
  return ctx.state.phase;
}
async function add(ctx: WorkflowStepContextOf<typeof everyShape>, amount: number): Promise<number> {
  return (ctx.state.total += amount);
}
function subtract(ctx: WorkflowStepContextOf<typeof everyShape>, amount: number): void {
  ctx.state.total -= amount;
}
async function callWorker(
  ctx: WorkflowStepContextOf<typeof everyShape>,
  key: "a" | "b",
  input: number,
): Promise<number> {
  const typed = await ctx.client<typeof registry>().worker.getOrCreate([key]).compute(input);
  exactly<number>()(typed);
  const client = ctx.client();
  return await client.worker.getOrCreate([key]).compute(input);
}
async function inWorkflow(ctx: WorkflowContextOf<typeof everyShape>, value: number): Promise<number> {
  return ctx
    .try("inner", async (branch) => branch.step("add", (step) => add(step, value)))
    .then((result) => (result.ok ? result.value : 0));
}
async function finish(ctx: WorkflowStepContextOf<typeof everyShape>, reason: string): Promise<void> {
  ctx.state.lastSource = reason;
  // @ts-expect-error the state's type
  ctx.state.total = reason;
}
function total(c: ActionContextOf<typeof everyShape>): number {
  return c.state.total;
}
async function later(c: ActionContextOf<typeof everyShape>): Promise<string> {
  await c.queue.send("work", { amount: 1 });
  return c.state.phase;
}
function report(c: RunContextOf<typeof everyShape>, event: WorkflowErrorEvent): void {
  if (event.workflow) c.state.phase = "stopped";
}

// The limit: what the workflow function (or onError) itself returns is looked at. If it comes from such a helper, it must
// be declared on the way.
export const declaredResult = actor({
  state: { n: 0 },
  run: workflow(async (ctx): Promise<number> => await ctx.step("count", async (step) => count(step))),
});
async function count(step: WorkflowStepContextOf<typeof declaredResult>): Promise<number> {
  return step.state.n;
}
export const declaredVariable = actor({
  state: { n: 0 },
  run: workflow(async (ctx) => {
    const counted: number = await ctx.step("count", async (step) => countAgain(step));
    return counted;
  }),
});
async function countAgain(step: WorkflowStepContextOf<typeof declaredVariable>): Promise<number> {
  return step.state.n;
}
// What it returns may come from such a helper.
export const undeclaredResult = actor({
  state: { n: 0 },
  run: workflow(async (ctx) => {
    const counted = await ctx.step("count", async (step) => countUndeclared(step));
    exactly<number>()(counted);
    return counted;
  }),
});
async function countUndeclared(step: WorkflowStepContextOf<typeof undeclaredResult>): Promise<number> {
  return step.state.n;
}

// The registry may be named inside its own actors in the same places.
export const registry = setup({ use: { everyShape, worker } });
