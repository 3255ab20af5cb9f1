import { actor, db, setup, workflow, type AnyActorDefinition, type Registry } from "../../src/actor/index.js";
import { CriticalError, Loop } from "../../src/workflow/index.js";
import type { ManualClock, WorldActor } from "../../src/testing/index.js";

/** A program to crash: what it is, how it is set off, and how long it may take. */
export interface Workload {
  readonly name: string;
  /** Makes the actor `subject` and whatever it calls. `ran` is told of every run of a step's callback. */
  registry(clock: ManualClock, ran: (step: string) => void): Registry;
  /** Messages of a client that sends each until it is acknowledged; the program must not mind one that comes twice. */
  readonly sends?: readonly string[];
  /** What it has in SQL and by key, which must come out exact as well. */
  readonly data?: (subject: WorldActor) => Promise<unknown>;
}

/** Every workload changes state only after a step's last await, so state must come out exact. */
export const workloads: Workload[] = [
  {
    name: "SQL and values by key, in steps and in a scheduled action",
    registry: (clock, ran) =>
      one(actor({
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
          data: async (c) => [(await c.db.execute("select x from t order by cast(x as text)")).map(({ x }) => x), await c.kv.list()],
        },
      })),
    data: (subject) => subject.call("data"),
  },
  {
    name: "a join of forty branches: at once, later, asleep, failing, and a join in one of them",
    registry: (clock, ran) =>
      one(actor({
        state: { sum: 0 },
        run: workflow(async (ctx) => {
          const branch = (n: number) => ({
            run: async (b: typeof ctx): Promise<number> => {
              if (n % 10 === 3) await b.sleep("nap", 500 * n);
              const value = await b.step("add", async (step) => {
                ran(`add-${n}`);
                await clock.delay(n % 3);
                step.state.sum += n;
                return n;
              });
              if (n === 11) throw new Error("one of them fails");
              if (n === 12) return (await b.join("inner", { a: { run: async () => 1 }, b: { run: (i: typeof ctx) => i.step("nothing", () => 2) } })).b;
              return value;
            },
          });
          const names = Array.from({ length: 40 }, (_, n) => [`b${n}`, branch(n)] as const);
          const failed = await ctx.join("with a failure", Object.fromEntries(names)).catch((error: { errors: object }) => Object.keys(error.errors));
          const rest = await ctx.join("without", Object.fromEntries(names.slice(13)));
          await ctx.sleep("pause", 1_000);
          return [failed, Object.entries(rest)];
        }),
        actions: { get: (c) => c.state },
      })),
  },
  {
    name: "ten steps in a row",
    registry: (clock, ran) =>
      one(actor({
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
      })),
  },
  {
    name: "steps and sleeps",
    registry: (clock, ran) =>
      one(actor({
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
      })),
  },
  {
    name: "retries until it succeeds",
    registry: (clock, ran) =>
      one(actor({
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
      })),
  },
  {
    name: "fails for good, caught, and fails for good",
    registry: (clock, ran) =>
      one(actor({
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
          await ctx.step({
            name: "slow",
            timeout: 100,
            run: async () => {
              ran("slow");
              await clock.delay(1_000);
            },
          }).catch(() => undefined);
          await ctx.step("critical", () => {
            throw new CriticalError("stop here", { metadata: { at: 1 } });
          });
        }),
        actions: { get: (c) => c.state },
      })),
  },
  {
    name: "ephemeral steps between durable ones",
    registry: (clock, ran) =>
      one(actor({
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
      })),
  },
  {
    name: "join, race, loop and try in each other",
    registry: (clock, ran) =>
      one(actor({
        state: { seen: [] as string[] },
        run: workflow(async (ctx) => {
          const note = (name: string) => async (step: { state: { seen: string[] } }): Promise<string> => {
            ran(name);
            await clock.delay(7);
            step.state.seen.push(name);
            step.state.seen.sort();
            return name;
          };
          await ctx.loop({
            name: "rounds",
            state: 0,
            historyPruneInterval: 2,
            run: async (round, index) => {
              await round.join("both", {
                left: { run: (b) => b.step("l", note(`l${index}`)) },
                right: {
                  run: async (b) => {
                    await b.sleep("wait", 50);
                    return b.step("r", note(`r${index}`));
                  },
                },
              });
              const { winner } = await round.race("first", [
                { name: "slow", run: (b) => b.sleep("long", 10_000) },
                { name: "quick", run: (b) => b.sleep("short", 20) },
              ]);
              const block = await round.try("block", async (b) => {
                await b.step("in", note(`in${index}-${winner}`));
                await b.step({ name: "no", maxRetries: 0, run: () => Promise.reject(new Error("no")) });
              });
              if (block.ok) throw new Error("the block cannot succeed");
              return index === 3 ? Loop.break(undefined) : Loop.continue(index + 1);
            },
          });
        }),
        actions: { get: (c) => c.state },
      })),
  },
  {
    name: "is undone after its failure",
    registry: (clock, ran) =>
      one(actor({
        state: { done: [] as string[], undone: [] as string[] },
        run: workflow(async (ctx) => {
          await ctx.rollbackCheckpoint("from here");
          const undoable = (name: string) => ({
            name,
            run: async (step: { state: { done: string[] } }) => {
              ran(name);
              await clock.delay(5);
              step.state.done.push(name);
              return name;
            },
            rollback: async (step: { state: { undone: string[] } }, output: string) => {
              ran(`undo ${name}`);
              await clock.delay(5);
              step.state.undone.push(output);
            },
          });
          await ctx.step(undoable("a"));
          await ctx.join("in parallel", { one: { run: (b) => b.step(undoable("b")) } });
          await ctx.try("inside", (b) => b.step(undoable("c")));
          await ctx.sleep("a while", 1_000);
          throw new Error("undo all of it");
        }),
        actions: { get: (c) => c.state },
      })),
  },
  {
    name: "sends messages to itself and takes them",
    registry: (clock, ran) =>
      one(actor({
        state: { taken: [] as string[] },
        run: workflow(async (ctx) => {
          await ctx.step("send", async (step) => {
            ran("send");
            await clock.delay(2);
            for (const body of ["x", "y", "z"]) await step.queue.send("jobs", body);
          });
          for (let i = 0; i < 2; i += 1) {
            const message = await ctx.queue.next("job", { names: ["jobs"], completable: true });
            await ctx.step(`take-${i}`, async (step) => {
              ran(`take-${i}`);
              await clock.delay(2);
              step.state.taken.push(String(message.body));
            });
            await message.complete("thanks");
          }
          const rest = await ctx.queue.nextBatch("rest", { count: 10, timeout: 500 });
          const none = await ctx.queue.nextBatch("none", { timeout: 500 });
          await ctx.step("count", (step) => {
            step.state.taken.push(`${rest.length}+${none.length}`);
          });
        }),
        actions: { get: (c) => c.state },
      })),
  },
  {
    name: "waits without a limit for a client's messages",
    sends: ["one", "two"],
    registry: (clock, ran) =>
      one(actor({
        state: { seen: {} as Record<string, boolean> },
        run: workflow(async (ctx) => {
          const seen = new Set<string>();
          for (let i = 0; seen.size < 2; i += 1) {
            const message = await ctx.queue.next("client");
            const body = String(message.body);
            if (!seen.has(body)) {
              await ctx.step(`see-${body}`, async (step) => {
                ran(`see-${body}`);
                await clock.delay(4);
                step.state.seen[body] = true;
              });
            }
            seen.add(body);
          }
          await ctx.race("anything more", [
            { name: "message", run: async (b) => void (await b.queue.next("more", { names: ["never"] })) },
            { name: "time", run: (b) => b.sleep("enough", 100) },
          ]);
        }),
        actions: { get: (c) => c.state },
      })),
  },
  {
    name: "calls other actors",
    registry: (clock, ran) =>
      setup({
        use: {
          subject: actor({
            state: { answers: [] as number[] },
            run: workflow(async (ctx) => {
              for (let i = 0; i < 3; i += 1) {
                const answer = await ctx.step({
                  name: `ask-${i}`,
                  maxRetries: 20,
                  run: async (step) => {
                    ran(`ask-${i}`);
                    return (await step.client().helper.getOrCreate([`h${i}`]).double(i)) as number;
                  },
                });
                await ctx.step(`keep-${i}`, (step) => {
                  step.state.answers.push(answer);
                });
              }
            }),
            actions: { get: (c) => c.state },
          }),
          helper: actor({
            state: { calls: 0 },
            actions: {
              double: async (c, n: number) => {
                await clock.delay(3);
                c.state.calls = 1;
                return n * 2;
              },
            },
          }),
        },
      }) as unknown as Registry,
  },
];

function one(subject: AnyActorDefinition): Registry {
  return setup({ use: { subject } }) as unknown as Registry;
}
