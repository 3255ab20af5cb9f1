import { actor, db, workflow } from "../../src/actor/index.js";
import { CriticalError } from "../../src/workflow/index.js";
import { one, type Workload } from "./workload.js";

/** Programs of steps and sleeps, one after the other. */
export const leafWorkloads: readonly Workload[] = [
  {
    name: "SQL and values by key, in steps and in a scheduled action",
    registry: (clock, ran) =>
      one(
        actor({
          state: { sum: 0, ticks: 0 },
          db: db({ onMigrate: async (sql) => void (await sql.execute("create table if not exists t (x)")) }),
          onCreate: async (c) => {
            await c.schedule.after(2_500, "tick");
            await c.db.transaction(async (tx) => tx.execute("insert into t values ('created')"));
          },
          run: workflow(async (ctx) => {
            for (let i = 1; i <= 4; i += 1) {
              await ctx.step(`add-${i}`, async (step) => {
                ran(`add-${i}`);
                await clock.delay(i % 3);
                step.state.sum += i;
                await step.db.execute("insert into t values (:x)", { x: i });
                await step.db.execute("update t set x = x + 10 where x = ?", i);
              });
              if (i % 2 === 0) await ctx.sleep(`pause-${i}`, 1_500);
            }
          }),
          actions: {
            get: (c) => c.state,
            tick: async (c) => {
              c.state.ticks += 1;
              await c.db.execute("insert into t values ('tick')");
              await c.kv.put(`tick ${c.state.ticks}`, "done");
            },
            data: async (c) => [
              (await c.db.execute("select x from t order by cast(x as text)")).map(({ x }) => x),
              await c.kv.list(),
            ],
          },
        }),
      ),
    data: (subject) => subject.call("data"),
  },
  {
    name: "steps of an actor whose start keeps it awake for a part of the start",
    registry: (clock, ran) =>
      one(
        actor({
          state: { sum: 0 },
          onWake: async (c) => {
            await c.keepAwake(Promise.resolve());
            for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
          },
          run: workflow(async (ctx) => {
            for (let i = 1; i <= 3; i += 1) {
              await ctx.step(`add-${i}`, async (step) => {
                ran(`add-${i}`);
                await clock.delay(i);
                step.state.sum += i;
              });
            }
          }),
          actions: { get: (c) => c.state },
        }),
      ),
  },
  {
    name: "ten steps in a row",
    registry: (clock, ran) =>
      one(
        actor({
          state: { sum: 0, order: [] as string[] },
          run: workflow(async (ctx) => {
            for (let i = 1; i <= 10; i += 1) {
              await ctx.step(`add-${i}`, async (step) => {
                ran(`add-${i}`);
                await clock.delay(i % 3);
                step.state.sum += i;
                step.state.order.push(`add-${i}`);
                return i;
              });
            }
            return "done";
          }),
          actions: { get: (c) => c.state },
        }),
      ),
  },
  {
    name: "steps and sleeps",
    registry: (clock, ran) =>
      one(
        actor({
          state: { woke: 0 },
          run: workflow(async (ctx) => {
            for (let i = 0; i < 4; i += 1) {
              await ctx.sleep(`pause-${i}`, 1_000 * (i + 1));
              await ctx.step(`wake-${i}`, async (step) => {
                ran(`wake-${i}`);
                await clock.delay(10);
                step.state.woke += 1;
              });
            }
            await ctx.sleepUntil("past", 1);
            await ctx.sleep("last", 3_600_000);
          }),
          actions: { get: (c) => c.state },
        }),
      ),
  },
  {
    name: "retries until it succeeds",
    registry: (clock, ran) =>
      one(
        actor({
          state: { attempts: 0, result: "" },
          run: workflow(async (ctx) => {
            const result = await ctx.step({
              name: "flaky",
              maxRetries: 5,
              run: async (step) => {
                ran("flaky");
                await clock.delay(5);
                if (step.attempt < 4) throw new Error(`attempt ${step.attempt}`);
                return `ok after ${step.attempt}`;
              },
            });
            await ctx.step("save", (step) => {
              step.state.result = result;
            });
          }),
          actions: { get: (c) => c.state },
        }),
      ),
  },
  {
    name: "fails for good, caught, and fails for good",
    registry: (clock, ran) =>
      one(
        actor({
          state: { caught: "" },
          run: workflow(async (ctx) => {
            try {
              await ctx.step({ name: "exhausted", maxRetries: 1, run: () => Promise.reject(new Error("no")) });
            } catch (error) {
              const message = String((error as Error).message);
              await ctx.step("note", (step) => {
                ran("note");
                step.state.caught = message;
              });
            }
            await ctx
              .step({
                name: "slow",
                timeout: 100,
                run: async () => {
                  ran("slow");
                  await clock.delay(1_000);
                },
              })
              .catch(() => undefined);
            await ctx.step("critical", () => {
              throw new CriticalError("stop here", { metadata: { at: 1 } });
            });
          }),
          actions: { get: (c) => c.state },
        }),
      ),
  },
  {
    name: "ephemeral steps between durable ones",
    registry: (clock, ran) =>
      one(
        actor({
          state: { total: 0 },
          run: workflow(async (ctx) => {
            let total = 0;
            for (let i = 0; i < 3; i += 1) {
              total += await ctx.step({ name: `read-${i}`, ephemeral: true, run: () => i * 2 });
              await ctx.step(`write-${i}`, async (step) => {
                ran(`write-${i}`);
                await clock.delay(1);
                step.state.total = total;
              });
            }
          }),
          actions: { get: (c) => c.state },
        }),
      ),
  },
  {
    name: "a workflow that is paused in the middle of a step, later while it sleeps, and resumed each time",
    registry: (clock, ran) =>
      one(
        actor({
          state: { sum: 0 },
          onCreate: async (c) => {
            for (const atMs of [150, 5_000]) {
              await c.schedule.after(atMs, "pause");
              await c.schedule.after(atMs + 3_000, "resume");
            }
          },
          run: workflow(async (ctx) => {
            for (let i = 1; i <= 3; i += 1) {
              await ctx.step(`add-${i}`, async (step) => {
                ran(`add-${i}`);
                await clock.delay(100);
                step.state.sum += i;
              });
            }
            await ctx.sleep("nap", 2_500);
            await ctx.join("j", {
              a: { run: (b) => b.step("s", () => void ran("j/a")) },
              b: { run: (b) => b.sleep("nap", 1_000) },
            });
          }),
          actions: {
            get: (c) => c.state,
            pause: (c) => c.workflow.pause("for a while"),
            resume: (c) => c.workflow.resume(),
          },
        }),
      ),
  },
  {
    name: "a workflow that fails, whose failed step an owner skips, and that an owner cancels undoing what it did",
    registry: (clock, ran) =>
      one(
        actor({
          state: { sum: 0 },
          onCreate: async (c) => {
            await c.schedule.after(500, "skip");
            await c.schedule.after(9_000, "cancel");
          },
          run: workflow(async (ctx) => {
            await ctx.rollbackCheckpoint("begin");
            for (let i = 1; i <= 2; i += 1) {
              await ctx.step({
                name: `add-${i}`,
                run: async (step) => {
                  ran(`add-${i}`);
                  await clock.delay(10);
                  step.state.sum += i;
                },
                rollback: async (step) => {
                  await clock.delay(10);
                  step.state.sum -= 10 * i;
                },
              });
            }
            await ctx.step({ name: "bad", maxRetries: 0, run: () => Promise.reject(new Error("no")) });
            await ctx.step("after", () => void ran("after"));
            await ctx.sleep("nap", 60_000);
          }),
          actions: {
            get: (c) => c.state,
            // A crash may have held the workflow up: then they come again.
            skip: async (c) => {
              const bad = c.workflow.history().find(({ location }) => location[0] === "bad");
              if (bad?.skipped) return;
              if (c.workflow.status().status === "failed" && bad) c.workflow.skip(bad.id, "by hand");
              else await c.schedule.after(1_000, "skip");
            },
            cancel: async (c) => {
              if (c.workflow.history().some(({ location }) => location[0] === "nap"))
                c.workflow.cancel({ rollback: true });
              else await c.schedule.after(1_000, "cancel");
            },
          },
        }),
      ),
  },
];
