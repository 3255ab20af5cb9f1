/** What `node bench/long-runs.mjs` measures: one actor in the world of the tests, under its clock, on whatever runs this. */
import { actor, setup } from "perdure";
import { World, type WorldActor, type WorldOptions } from "../src/testing/index.js";
import { Loop, workflow } from "perdure/workflow";

type NextTurn = WorldOptions["nextTurn"];

/** How an actor stands with its storage. */
export interface Stored {
  readonly keys: number;
  readonly bytes: number;
}

export interface Replay extends Stored {
  /** Of each start from storage, until the workflow has passed all that is recorded and goes on; ms. */
  readonly samples: readonly number[];
}

/** A workflow with so many finished steps behind it, started from storage by a message again and again. */
export async function replay(entries: number, times: number, nextTurn: NextTurn, nowMs: () => number): Promise<Replay> {
  let woken = 0;
  const subject = actor({
    state: { woken: 0 },
    run: workflow(async (ctx) => {
      for (let i = 0; i < entries; i += 1)
        await ctx.step(`step-${i}`, () => ({ index: i, text: "as long as a small result" }));
      await ctx.loop("wakes", async (round) => {
        await round.queue.next("wake");
        await round.step("woken", (step) => {
          step.state.woken += 1;
          woken += 1;
        });
      });
    }),
    actions: { wake: (c) => c.queue.send("wake", 0) },
  });
  const { world, alone } = worldOf(subject, nextTurn);
  await alone.call("wake");
  while (woken < 1) await world.turn();
  const samples: number[] = [];
  const { keys, bytes } = stored(alone);
  for (let sample = 0; sample < times; sample += 1) {
    await world.settle();
    alone.crash();
    const before = woken;
    const startedAt = nowMs();
    await alone.call("wake");
    while (woken === before) await world.turn();
    samples.push(nowMs() - startedAt);
  }
  return { keys, bytes, samples };
}

/** A loop of so many iterations, each of them a step that changes state; `mark` is called before the first and each `every` iterations. */
export async function loop(
  iterations: number,
  every: number,
  nextTurn: NextTurn,
  mark: (iteration: number, stored: Stored) => void,
): Promise<void> {
  let isDone = false;
  const subject = actor({
    state: { sum: 0 },
    run: workflow(async (ctx) => {
      await ctx.loop({
        name: "rounds",
        state: 0,
        run: async (round, n: number) => {
          await round.step("add", (step) => {
            step.state.sum += n;
            if (n % every === 0) mark(n, stored(alone));
          });
          return n === iterations ? Loop.break(n) : Loop.continue(n + 1);
        },
      });
      isDone = true;
    }),
    actions: { get: (c) => c.state.sum },
  });
  const { world, alone } = worldOf(subject, nextTurn);
  await alone.call("get");
  while (!isDone) await world.turn();
}

function worldOf(subject: ReturnType<typeof actor>, nextTurn: NextTurn): { world: World; alone: WorldActor } {
  const registry = setup({ use: { subject } });
  const world = new World(registry as unknown as ConstructorParameters<typeof World>[0], { nextTurn });
  return { world, alone: world.actor("subject", ["alone"]) };
}

function stored({ store }: WorldActor): Stored {
  const rows = store.dump();
  let bytes = 0;
  for (const [key, value] of rows) bytes += key.length + value.byteLength;
  return { keys: rows.size, bytes };
}
