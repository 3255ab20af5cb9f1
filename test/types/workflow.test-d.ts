// What a workflow's primitives infer, in both forms, and what its contexts refuse.
import { actor, queue, type RunContextOf } from "perdure";
import {
  CriticalError,
  JoinError,
  Loop,
  workflow,
  type EntryKindType,
  type TryBlockFailure,
  type TryBlockResult,
  type TryStepFailure,
  type TryStepResult,
  type WorkflowBranchContextOf,
  type WorkflowContextOf,
  type WorkflowError,
  type WorkflowErrorEvent,
  type WorkflowLoopContextOf,
  type WorkflowStepContextOf,
} from "perdure/workflow";
import { exactly } from "./exactly.js";

export const engine = actor({
  state: { count: 0, outcome: null as "done" | "failed" | null },
  vars: { cache: new Map<string, number>() },
  queues: { jobs: queue<{ id: string }, { ok: boolean }>(), stop: queue<{ reason: string }>() },
  run: workflow(
    async (ctx) => {
      exactly<WorkflowContextOf<typeof engineTwin>>()(ctx);
      exactly<string>()(ctx.workflowId);
      exactly<string[]>()(ctx.key);
      exactly<AbortSignal>()(ctx.abortSignal);
      exactly<boolean>()(ctx.isEvicted());

      // step
      exactly<number>()(await ctx.step("plain", () => 1));
      exactly<string>()(await ctx.step("async", async () => "x"));
      exactly<void>()(await ctx.step("nothing", (step) => step.log.info("hello")));
      exactly<{ id: string } | null>()(
        await ctx.step("either", (step) => (step.attempt > 1 ? { id: step.actorId } : null)),
      );
      exactly<string>()(await ctx.step<string>("explicit", async () => "x"));
      exactly<number>()(await ctx.step({ name: "config", run: () => 1 }));
      exactly<string>()(
        await ctx.step<string>({
          name: "explicit config",
          timeout: 5_000,
          retryOnTimeout: true,
          maxRetries: 5,
          retryBackoffBase: 200,
          retryBackoffMax: 2_000,
          ephemeral: true,
          run: async (step) => step.name,
        }),
      );
      // @ts-expect-error the callback gives a number
      await ctx.step<string>("wrong", () => 1);
      // @ts-expect-error a step has a name
      await ctx.step({ run: () => 1 });
      // @ts-expect-error unknown option
      await ctx.step({ name: "unknown option", run: () => 1, retries: 3 });

      // the step's context
      await ctx.step("context", async (step) => {
        exactly<WorkflowStepContextOf<typeof engineTwin>>()(step);
        exactly<"done" | "failed" | null>()(step.state.outcome);
        exactly<Map<string, number>>()(step.vars.cache);
        exactly<number>()(step.attempt + step.maxRetries);
        exactly<void>()(await step.queue.send("jobs", { id: "1" }));
        await step.queue.send("a name that is not declared", 1);
        // @ts-expect-error the declared body
        await step.queue.send("jobs", { id: 1 });
        exactly<number>()(await step.keepAwake(Promise.resolve(1)));
        exactly<void>()(step.waitUntil(Promise.resolve()));
        exactly<void>()(step.destroy());
        exactly<any>()(await step.client().shard.getOrCreate(["a"]).compute(1));
        // @ts-expect-error the literals keep their declared type
        step.state.outcome = "cancelled";
        // @ts-expect-error steps are not nested
        void step.step;
        // @ts-expect-error durable waits belong to the workflow
        void step.sleep;
        // @ts-expect-error only sending is possible in a step
        void step.queue.next;
      });

      // what only steps have
      // @ts-expect-error state
      void ctx.state;
      // @ts-expect-error vars
      void ctx.vars;
      // @ts-expect-error client
      void ctx.client;
      // @ts-expect-error broadcast
      void ctx.broadcast;
      // @ts-expect-error schedule
      void ctx.schedule;
      // @ts-expect-error cron
      void ctx.cron;
      // @ts-expect-error kv
      void ctx.kv;
      // @ts-expect-error db
      void ctx.db;
      // @ts-expect-error destroy
      void ctx.destroy;
      // @ts-expect-error keepAwake
      void ctx.keepAwake;
      // @ts-expect-error waitUntil
      void ctx.waitUntil;
      // @ts-expect-error sending
      void ctx.queue.send;

      // rollback gets the step's output: of a `run` that stands before it, or takes no context
      await ctx.rollbackCheckpoint("checkpoint");
      await ctx.step({
        name: "reserve",
        run: async (step) => ({ reservation: step.actorId }),
        rollback: async (step, output) => {
          exactly<{ reservation: string }>()(output);
          exactly<number>()(step.state.count);
        },
      });
      await ctx.step({ name: "no context", rollback: (_step, output) => exactly<number>()(output), run: () => 1 });
      await ctx.step({
        name: "rollback first",
        rollback: (_step, output) => exactly<unknown>()(output),
        run: async (step) => step.attempt,
      });
      await ctx.step<number>({
        name: "rollback first, explicit",
        rollback: (_step, output) => exactly<number>()(output),
        run: async (step) => step.attempt,
      });

      // tryStep
      const tried = await ctx.tryStep("try", async () => 1);
      exactly<TryStepResult<number>>()(tried);
      if (tried.ok) exactly<number>()(tried.value);
      else {
        exactly<TryStepFailure>()(tried.failure);
        exactly<"critical" | "timeout" | "exhausted" | "rollback">()(tried.failure.kind);
        exactly<WorkflowError>()(tried.failure.error);
        // @ts-expect-error there is no value
        void tried.value;
      }
      exactly<TryStepResult<{ id: string }>>()(
        await ctx.tryStep({
          name: "try config",
          catch: ["critical", "rollback"],
          maxRetries: 0,
          run: (step) => ({ id: step.actorId }),
          rollback: (_step, output) => exactly<{ id: string }>()(output),
        }),
      );
      exactly<TryStepResult<string>>()(await ctx.tryStep<string>({ name: "try explicit", run: () => "x" }));
      // @ts-expect-error not a kind
      await ctx.tryStep({ name: "try kind", catch: ["join"], run: () => 1 });

      // try
      const block = await ctx.try("block", async (branch) => branch.step("inside", () => "x"));
      exactly<TryBlockResult<string>>()(block);
      if (!block.ok) {
        exactly<TryBlockFailure>()(block.failure);
        exactly<"step" | "join" | "race" | "block">()(block.failure.source);
        exactly<TryStepFailure | undefined>()(block.failure.step);
      }
      exactly<TryBlockResult<number>>()(
        await ctx.try({
          name: "block config",
          catch: ["step", "rollback"],
          run: async (branch) => branch.step("inside", () => 1),
        }),
      );
      // @ts-expect-error not a source
      await ctx.try({ name: "block kind", catch: ["timeout"], run: async () => 1 });
      // @ts-expect-error no state in a block
      await ctx.try("block state", async (branch) => branch.state);

      // loop: nothing and Loop.break(value) may be mixed
      exactly<string>()(
        await ctx.loop("mixed", async (loop) => {
          exactly<WorkflowLoopContextOf<typeof engineTwin>>()(loop);
          const message = await loop.queue.next("command", { names: ["jobs", "stop"] });
          if (message.name === "jobs") {
            await loop.step("work", () => message.body.id);
            return;
          }
          if (message.body.reason !== "") return Loop.break(message.body.reason);
        }),
      );
      exactly<undefined>()(await ctx.loop("endless", async (loop) => void (await loop.sleep("pause", 10))));
      exactly<undefined>()(await ctx.loop("break without a value", async () => Loop.break()));
      exactly<number>()(
        await ctx.loop("arrow", (loop) => loop.step("one", () => 1).then((value) => Loop.break(value))),
      );
      exactly<string>()(await ctx.loop("not async", () => Loop.break("x")));
      exactly<"a" | "b">()(await ctx.loop<"a" | "b">("explicit loop", async () => Loop.break("a")));
      exactly<string | number>()(
        await ctx.loop("several types", async (loop) => (loop.isEvicted() ? Loop.break("x") : Loop.break(1))),
      );
      exactly<string | undefined>()(
        await ctx.loop("with or without a value", async (loop) => {
          if (loop.isEvicted()) return Loop.break();
          if (loop.actorId === "") return Loop.continue(undefined);
          return Loop.break("x");
        }),
      );
      exactly<number>()(
        await ctx.loop({
          name: "config loop",
          historyPruneInterval: 10,
          historySize: 5,
          run: async () => Loop.break(1),
        }),
      );
      exactly<{ total: number }>()(
        await ctx.loop({
          name: "stateful",
          state: { cursor: null as string | null, total: 0 },
          run: async (loop, state) => {
            exactly<{ cursor: string | null; total: number }>()(state);
            const cursor = await loop.step("page", () => "next");
            if (state.total > 10) return Loop.break({ total: state.total });
            return Loop.continue({ cursor, total: state.total + 1 });
          },
        }),
      );
      exactly<boolean>()(
        await ctx.loop({
          name: "number",
          state: 0,
          run: async (_loop, n) => (n > 3 ? Loop.break(true) : Loop.continue(n + 1)),
        }),
      );
      exactly<string>()(
        await ctx.loop<{ n: number }, string>({
          name: "both explicit",
          state: { n: 0 },
          run: async (_loop, { n }) => (n > 3 ? Loop.break("x") : Loop.continue({ n: n + 1 })),
        }),
      );
      // @ts-expect-error what an iteration returns is made by Loop
      await ctx.loop("returns", async () => 5);
      // @ts-expect-error the state's type
      await ctx.loop({ name: "state", state: { n: 0 }, run: async (_loop, { n }) => Loop.continue({ n: String(n) }) });
      // @ts-expect-error the explicit type
      await ctx.loop<string>("explicit type", async () => Loop.break(1));

      // join: each branch its own type
      const joined = await ctx.join("join", {
        users: { run: async (branch) => await branch.step("users", () => 1) },
        names: { run: async () => ["x"] },
        plain: { run: () => true },
        maybe: { run: async (branch) => branch.step("maybe", () => null as string | null) },
        nothing: { run: async (branch) => branch.sleep("pause", 10) },
        nested: { run: async (branch) => branch.join("inner", { a: { run: () => 1 } }) },
      });
      exactly<{
        users: number;
        names: string[];
        plain: boolean;
        maybe: string | null;
        nothing: void;
        nested: { a: number };
      }>()(joined);
      await ctx.join("join context", {
        a: { run: async (branch) => exactly<WorkflowBranchContextOf<typeof engineTwin>>()(branch) },
      });
      // @ts-expect-error no such branch
      void joined.orders;
      // @ts-expect-error no state in a branch
      await ctx.join("join state", { a: { run: async (branch) => branch.state } });

      // race: one type for all branches, or else the winner's name tells which
      const race = await ctx.race("race", [
        { name: "bid", run: async (branch) => (await branch.queue.next("bid", { names: ["jobs"] })).body.id.length },
        {
          name: "expire",
          run: async (branch) => {
            await branch.sleep("expire", 10);
            return 0;
          },
        },
      ]);
      exactly<{ winner: "bid" | "expire"; value: number }>()(race);
      exactly<string>()(String(race.winner satisfies string));
      // @ts-expect-error no branch has that name
      if (race.winner === "bids") return;
      const mixed = await ctx.race("mixed race", [
        { name: "message", run: async (branch) => (await branch.queue.next("message", { names: ["stop"] })).body },
        { name: "timeout", run: async (branch) => branch.sleep("timeout", 10) },
      ]);
      if (mixed.winner === "message") exactly<{ reason: string }>()(mixed.value);
      else exactly<void>()(mixed.value);
      exactly<{ winner: string; value: string | number }>()(
        await ctx.race<string | number>("explicit race", [
          { name: "a", run: () => 1 },
          { name: "b", run: async () => "x" },
        ]),
      );
      const names = ["a", "b"];
      exactly<{ winner: string; value: number }>()(
        await ctx.race(
          "computed race",
          names.map((name) => ({ name, run: async () => name.length })),
        ),
      );
      // @ts-expect-error no state in a branch
      await ctx.race("race state", [{ name: "a", run: async (branch) => branch.state }]);

      // the rest
      exactly<number>()(await ctx.getVersion("gate", 2));
      exactly<void>()(await ctx.removed("old", "step"));
      const kinds: EntryKindType[] = [
        "step",
        "loop",
        "sleep",
        "message",
        "rollback_checkpoint",
        "join",
        "race",
        "removed",
        "version_check",
      ];
      for (const kind of kinds) await ctx.removed(kind, kind);
      await ctx.removed("old block", "try");
      // @ts-expect-error not a kind
      await ctx.removed("old kind", "branch");
      exactly<void>()(await ctx.sleep("sleep", 10));
      exactly<void>()(await ctx.sleepUntil("until", Date.now()));
      exactly<void>()(await ctx.sleepUntil("until date", new Date()));
      // @ts-expect-error ms
      await ctx.sleep("sleep text", "1s");

      try {
        await ctx.step("fails", () => {
          throw new CriticalError("no", { metadata: { code: 1 } });
        });
      } catch (error) {
        if (error instanceof JoinError) exactly<Record<string, Error>>()(error.errors);
      }
    },
    {
      onError: (c, event) => {
        exactly<RunContextOf<typeof engineTwin>>()(c);
        exactly<WorkflowErrorEvent>()(event);
        c.state.count += 1;
        if (event.step) {
          exactly<string>()(event.step.stepName);
          exactly<number>()(event.step.attempt + event.step.maxRetries + event.step.remainingRetries);
          exactly<boolean>()(event.step.willRetry);
          exactly<number | undefined>()(event.step.retryDelay);
          exactly<number | undefined>()(event.step.retryAt);
          exactly<WorkflowError>()(event.step.error);
        } else if (event.rollback)
          exactly<{ readonly workflowId: string; readonly stepName: string; readonly error: WorkflowError }>()(
            event.rollback,
          );
        else
          exactly<{ readonly workflowId: string; readonly error: WorkflowError; readonly reported?: true }>()(
            event.workflow,
          );
        // @ts-expect-error one of the three
        void event.join;
        if ("workflow" in event && event.workflow) c.log.error(event.workflow.error.message);
      },
    },
  ),
});
const engineTwin = actor({
  state: { count: 0, outcome: null as "done" | "failed" | null },
  vars: { cache: new Map<string, number>() },
  queues: { jobs: queue<{ id: string }, { ok: boolean }>(), stop: queue<{ reason: string }>() },
});

// the function: async or not, with or without a result
export const shapes = [
  actor({ run: workflow((ctx) => ctx.loop("loop", async (loop) => loop.sleep("pause", 10))) }),
  actor({ run: workflow(async () => {}) }),
  actor({ run: workflow(() => 1) }),
  actor({ run: workflow((ctx) => ctx.step("one", () => 1), {}) }),
  actor({ run: workflow(async (ctx) => ({ total: await ctx.step("one", () => 1) })) }),
];
// @ts-expect-error a workflow is a function
workflow({ run: async () => {} });
// @ts-expect-error unknown option
workflow(async () => {}, { onerror: () => {} });
