import { describe, expect, it } from "vitest";
import { Loop } from "../../src/entry/workflow.js";
import { subject, type Ctx, type Subject } from "../workflow/subject.js";

const ITERATIONS = 11;
const EVERY = Array.from({ length: ITERATIONS }, (_, n) => n);

// New entries overwrite the rows of pruned ones (FLOW-19): wherever the object dies, each iteration is done once, and when
// the workflow starts over, each is done once more.
describe.each([
  { interval: 1, kept: 1 },
  { interval: 2, kept: 1 },
  { interval: 3, kept: 2 },
  { interval: 2, kept: 4 },
])("a loop that is pruned every $interval iterations but for $kept", ({ interval, kept }) => {
  const program = async (ctx: Ctx): Promise<unknown> =>
    ctx.loop({
      name: "rounds",
      state: 0,
      historyPruneInterval: interval,
      historySize: kept,
      run: async (round, n: number) => {
        await round.step("note", (step) => void step.state.log.push(n));
        // Iterations of different sizes: rows are left over, or missing.
        if (n % 3 === 1) {
          await round.race("first", [
            { name: "loses", run: (branch) => branch.loop("inner", async (turn) => void (await turn.sleep("s", 2))) },
            { name: "wins", run: (branch) => branch.sleep("s", 7) },
          ]);
        }
        if (n % 4 === 2) await round.sleep("pause", 10);
        return n === ITERATIONS - 1 ? Loop.break(n) : Loop.continue(n + 1);
      },
    });

  async function runs(cutOffAt: number, how: "crash-before" | "crash-after", startsOver: boolean): Promise<Subject> {
    const s = await subject(program, {
      state: { log: [] },
      fault: (commit) => (commit === cutOffAt ? how : undefined),
    }).catch(() => undefined);
    // It died before it existed.
    if (!s) return runs(0, how, startsOver);
    const trying = async (what: () => Promise<unknown>): Promise<unknown> =>
      what().catch(() => s.world.pass(30_000).then(what));
    await trying(() => s.world.pass(25));
    if (startsOver) {
      // Once it waits.
      for (
        let wait = 0;
        ((await trying(() => s.status())) as { status: string }).status === "running" && wait < 3;
        wait += 1
      )
        if (
          await s.call("replayFrom").then(
            () => true,
            () => false,
          )
        )
          break;
        else await trying(() => s.world.pass(1));
    }
    await trying(() => s.world.pass(60_000));
    expect(await trying(() => s.status())).toMatchObject({ status: "completed", output: ITERATIONS - 1 });
    return s;
  }

  it.each(["crash-before", "crash-after"] as const)("does each once, wherever it ends by %s", async (how) => {
    for (let commit = 1; commit < 50; commit += 1) {
      const s = await runs(commit, how, false);
      expect(((await s.state()) as { log: number[] }).log).toEqual(EVERY);
      const left = new Set(s.stored().flatMap(({ location }) => (location.length > 1 ? [Number(location[1])] : [])));
      expect(left.size).toBeLessThanOrEqual(kept + 1);
    }
  });

  it.each(["crash-before", "crash-after"] as const)(
    "does each once more when it starts over, wherever it ends by %s",
    async (how) => {
      for (let commit = 1; commit < 70; commit += 1) {
        const s = await runs(commit, how, true);
        const { log } = (await s.state()) as { log: number[] };
        // A call that is cut off after its commit is made again: then it starts over twice.
        const starts = log.flatMap((n, at) => (n === 0 ? [at] : []));
        expect(log.slice(starts.at(-1))).toEqual(EVERY);
        for (const [nth, at] of starts.entries()) {
          const run = log.slice(at, starts[nth + 1]);
          expect(run).toEqual(EVERY.slice(0, run.length));
        }
      }
    },
  );
});
