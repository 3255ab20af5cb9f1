// A user's actors, with every primitive: what is exported here must be nameable in declarations.
import { actor, event, queue, setup, type ActionContextOf, type ScheduledFireInfo } from "perdure";
import { CriticalError, Loop, workflow, type WorkflowErrorEvent, type WorkflowStepContextOf } from "perdure/workflow";

export interface Job {
  readonly id: string;
  readonly amount: number;
}

export const ledger = actor({
  createState: (
    _c,
    input: { currency: "EUR" | "USD" },
  ): { currency: "EUR" | "USD"; lines: Job[]; last: "ok" | "failed" | null } => ({
    currency: input.currency,
    lines: [],
    last: null,
  }),
  createVars: () => ({ opened: new Map<string, number>() }),
  events: { booked: event<{ id: string }>() },
  queues: { jobs: queue<Job, { booked: boolean }>(), stop: queue<{ reason: string }>() },
  onCreate: (c, input: { currency: "EUR" | "USD" }) => c.log.info({ msg: "created", currency: input.currency }),
  onWake: (c) => c.vars.opened.clear(),
  run: workflow(
    async (ctx) => {
      await ctx.rollbackCheckpoint("checkpoint");
      const reason = await ctx.loop("jobs", async (loop) => {
        const message = await loop.queue.next("job", { names: ["jobs", "stop"], completable: true });
        if (message.name === "stop") {
          await message.complete();
          return Loop.break(message.body.reason);
        }
        const { body } = message;
        await loop.step({
          name: "book",
          run: (step) => book(step, body),
          rollback: (step, booked) => unbook(step, booked),
        });
        await message.complete({ booked: true });
        return;
      });
      const { winner } = await ctx.race("wait", [
        { name: "job", run: async (branch) => (await branch.queue.next("late")).id },
        { name: "timeout", run: async (branch) => branch.sleep("enough", 1000) },
      ]);
      const counts = await ctx.join("counts", {
        lines: { run: (branch) => branch.step("lines", (step) => step.state.lines.length) },
        winner: { run: async () => winner },
      });
      const checked = await ctx.tryStep({ name: "check", catch: ["critical"], run: () => check(counts.lines) });
      await ctx.step("last", (step) => {
        step.state.last = checked.ok && reason !== "" ? "ok" : "failed";
      });
    },
    { onError: (c, failure) => note(c, failure) },
  ),
  actions: {
    getState: (c) => c.state,
    totals: {
      sum: (c, currency?: "EUR" | "USD") => (currency === c.state.currency ? total(c) : undefined),
      at: async () => new Date(),
    },
    history: (c) => c.workflow.history(),
    later: (c, ms: number) => c.schedule.after(ms, "wake", "x"),
    wake: (_c, text: string, info: ScheduledFireInfo) => `${text} ${info.firedAt}`,
    take: async (c) => c.queue.tryNext({ names: ["jobs"], completable: true }),
    drain: (c) => c.queue.iter(),
  },
});

export const plain = actor({
  state: { seen: 0 },
  run: async (c) => {
    for await (const message of c.queue) c.state.seen += typeof message.body === "number" ? message.body : 1;
  },
  actions: { seen: (c) => c.state.seen },
});

function check(lines: number): number {
  if (lines < 0) throw new CriticalError("negative");
  return lines;
}

async function book(step: WorkflowStepContextOf<typeof ledger>, job: Job): Promise<string> {
  step.state.lines.push(job);
  await step.queue.send("jobs", job);
  await step.client<typeof registry>().plain.getOrCreate(["x"]).send("anything", 1);
  return job.id;
}

function unbook(step: WorkflowStepContextOf<typeof ledger>, id: string): void {
  step.state.lines = step.state.lines.filter((line) => line.id !== id);
}

function total(c: ActionContextOf<typeof ledger>): number {
  return c.state.lines.reduce((sum, line) => sum + line.amount, 0);
}

function note(c: { readonly log: { warn(text: string): void } }, failure: WorkflowErrorEvent): void {
  if (failure.step) c.log.warn(`${failure.step.stepName} ${failure.step.willRetry ? "tries again" : "failed"}`);
  else if (failure.rollback) c.log.warn(failure.rollback.stepName);
  else c.log.warn(failure.workflow.error.message);
}

export const registry = setup({ use: { ledger, plain } });
