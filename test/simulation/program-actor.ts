import { actor, setup, workflow, type Registry } from "../../src/actor/index.js";
import type { ManualClock } from "../../src/testing/index.js";
import { Interpreter } from "./interpreter.js";
import { OCCURRENCES, type ProgramState, type Watch } from "./program-state.js";
import type { Program } from "./programs.js";

// oxlint-disable-next-line typescript/no-explicit-any -- the program is data, so its contexts have no static shape
type Ctx = any;

/** The program's actor under the name `subject`, and the same without its workflow. */
export function programRegistry(
  program: Program,
  clock: ManualClock,
  watch: Watch,
): { readonly whole: Registry; readonly withoutWorkflow: Registry } {
  const interpreter = new Interpreter(clock, watch);
  const parts = {
    state: {
      finished: {},
      undone: {},
      undoneOrder: [],
      received: [],
      added: {},
      ticked: {},
      recurred: {},
      completed: [],
    } as ProgramState,
    onDestroy: async () => {
      await clock.delay(4);
    },
    actions: { ...plainActions(clock), ...timedActions(clock, watch), complete: completeNext },
  };
  const run = workflow(async (ctx: Ctx) => {
    watch.began();
    await ctx.rollbackCheckpoint("checkpoint");
    await interpreter.block(ctx, program.body, "", false);
    if (program.fails) throw new Error("the program's end");
    return "done";
  });
  return {
    whole: setup({ use: { subject: actor({ ...parts, run }) } }) as unknown as Registry,
    withoutWorkflow: setup({ use: { subject: actor(parts) } }) as unknown as Registry,
  };
}

/** What clients call, and what sets off what comes later. */
function plainActions(clock: ManualClock) {
  return {
    get: (c: Ctx) => c.state,
    add: async (c: Ctx, id: string) => {
      await clock.delay(2);
      c.state.added[id] = (c.state.added[id] ?? 0) + 1;
    },
    schedule: (c: Ctx, id: string, delayMs: number) => c.schedule.after(delayMs, "tick", id),
    recur: (c: Ctx, id: string) => c.cron.every({ name: id, interval: 5_000, action: "occur", args: [id] }),
    destroy: (c: Ctx) => c.destroy(),
    destroyLater: (c: Ctx, delayMs: number) => c.schedule.after(delayMs, "destroy"),
    status: (c: Ctx) => c.workflow.status(),
  };
}

/** What schedules and recurring jobs run: work that a crash would interrupt. */
function timedActions(clock: ManualClock, watch: Watch) {
  return {
    tick: async (c: Ctx, id: string) => {
      watch.attempt(`tick ${id}`, true, c.actorId);
      try {
        await clock.delay(3);
        c.state.ticked[id] = (c.state.ticked[id] ?? 0) + 1;
      } finally {
        watch.attempt(`tick ${id}`, false, c.actorId);
      }
    },
    /** The third one that takes effect ends the job. */
    occur: async (c: Ctx, id: string, { scheduledAt }: { scheduledAt: number }) => {
      const key = `${id}@${scheduledAt}`;
      watch.attempt(`occurrence ${key}`, true, c.actorId);
      try {
        await clock.delay(3);
        c.state.recurred[key] = (c.state.recurred[key] ?? 0) + 1;
        if (Object.keys(c.state.recurred).filter((each) => each.startsWith(`${id}@`)).length === OCCURRENCES)
          await c.cron.delete(id);
      } finally {
        watch.attempt(`occurrence ${key}`, false, c.actorId);
      }
    },
  };
}

async function completeNext(c: Ctx): Promise<void> {
  const message = await c.queue.tryNext({ names: ["w"], completable: true });
  if (!message) return;
  c.state.completed.push(message.body);
  try {
    await message.complete(`did ${message.body}`);
  } catch (error) {
    c.state.completed.pop();
    throw error;
  }
}
