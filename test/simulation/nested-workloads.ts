import { actor, setup, workflow, type Registry } from "../../src/actor/index.js";
import { Loop } from "../../src/workflow/index.js";
import { one, type Workload } from "./workload.js";

/** Programs of blocks in blocks, of messages, and of calls. */
export const nestedWorkloads: readonly Workload[] = [
  {
    name: "a join of forty branches: at once, later, asleep, failing, and a join in one of them",
    registry: (clock, ran) =>
      one(
        actor({
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
                if (n === 12)
                  return (
                    await b.join("inner", {
                      a: { run: async () => 1 },
                      b: { run: (i: typeof ctx) => i.step("nothing", () => 2) },
                    })
                  ).b;
                return value;
              },
            });
            const names = Array.from({ length: 40 }, (_, n) => [`b${n}`, branch(n)] as const);
            const failed = await ctx
              .join("with a failure", Object.fromEntries(names))
              .catch((error: { errors: object }) => Object.keys(error.errors));
            const rest = await ctx.join("without", Object.fromEntries(names.slice(13)));
            await ctx.sleep("pause", 1_000);
            return [failed, Object.entries(rest)];
          }),
          actions: { get: (c) => c.state },
        }),
      ),
  },
  {
    name: "join, race, loop and try in each other",
    registry: (clock, ran) =>
      one(
        actor({
          state: { seen: [] as string[] },
          run: workflow(async (ctx) => {
            const note =
              (name: string) =>
              async (step: { state: { seen: string[] } }): Promise<string> => {
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
        }),
      ),
  },
  {
    name: "is undone after its failure",
    registry: (clock, ran) =>
      one(
        actor({
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
        }),
      ),
  },
  {
    name: "sends messages to itself and takes them",
    registry: (clock, ran) =>
      one(
        actor({
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
        }),
      ),
  },
  {
    name: "waits without a limit for a client's messages",
    sends: ["one", "two"],
    registry: (clock, ran) =>
      one(
        actor({
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
        }),
      ),
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
                    return (await step
                      .client()
                      .helper.getOrCreate([`h${i}`])
                      .double(i)) as number;
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
