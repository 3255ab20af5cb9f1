import { actor, setup, workflow, type Registry } from "../../src/actor/index.js";
import { CriticalError } from "../../src/workflow/index.js";
import type { ManualClock } from "../../src/testing/index.js";

/** A program to crash: what it is, how it is set off, and how long it may take. */
export interface Workload {
  readonly name: string;
  /** Makes the actor `subject` and whatever it calls. `ran` is told of every run of a step's callback. */
  registry(clock: ManualClock, ran: (step: string) => void): Registry;
}

/** Every workload changes state only after a step's last await, so state must come out exact. */
export const workloads: Workload[] = [
  {
    name: "ten steps in a row",
    registry: (clock, ran) =>
      one({
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
      }),
  },
  {
    name: "steps and sleeps",
    registry: (clock, ran) =>
      one({
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
      }),
  },
  {
    name: "retries until it succeeds",
    registry: (clock, ran) =>
      one({
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
      }),
  },
  {
    name: "fails for good, caught, and fails for good",
    registry: (clock, ran) =>
      one({
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
      }),
  },
  {
    name: "ephemeral steps between durable ones",
    registry: (clock, ran) =>
      one({
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
      }),
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

function one<S>(config: { state: S; run: ReturnType<typeof workflow> }): Registry {
  return setup({ use: { subject: actor({ ...config, actions: { get: (c) => c.state } }) } }) as unknown as Registry;
}
