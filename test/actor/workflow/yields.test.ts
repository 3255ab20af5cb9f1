import { expect, test } from "vitest";
import { actor, setup } from "../../../src/entry/index.js";
import { workflow } from "../../../src/entry/workflow.js";
import { ManualClock, World } from "../../../src/testing/index.js";

/** Enough for a yield to fall on every operation of the race, whatever the pace (FLOW-12). */
const MOST_STEPS_BEFORE = 60;

test.each(["step", "time"])(
  "a race of a step and a sleep that end at one instant: what its winner did stands alone, %s first",
  async (first) => {
    for (let before = 0; before <= MOST_STEPS_BEFORE; before += 1) {
      const clock = new ManualClock();
      const tied = actor({
        state: { done: 0, winner: "" },
        run: workflow(async (ctx) => {
          for (let i = 0; i < before; i += 1) await ctx.step(`before-${i}`, () => {});
          const { winner } = await ctx.race("tie", [
            {
              name: "step",
              run: async (branch) =>
                void (await branch.step("work", async (step) => {
                  await clock.delay(first === "step" ? 9 : 10);
                  step.state.done += 1;
                })),
            },
            { name: "time", run: async (branch) => void (await branch.sleep("limit", first === "step" ? 10 : 9)) },
          ]);
          await ctx.step("winner", (step) => void (step.state.winner = winner));
        }),
        actions: { get: (c) => ({ ...c.state }) },
      });
      const world = new World(setup({ use: { tied } }), { clock, nextTurn: (run) => setImmediate(run) });
      const subject = world.actor("tied", ["k"]);
      await subject.call("get");
      for (let turn = 0; turn < 40; turn += 1) await world.turn();
      // Both are due before other events have their turn: a yield that is under way ends behind them.
      clock.moveTo(clock.now() + 10);
      while (clock.fireNext()) await undefined;
      await world.passUntilQuiet();
      const { done, winner } = (await subject.call("get")) as { done: number; winner: string };
      expect(winner, `${before} steps before`).not.toBe("");
      expect(done, `${before} steps before, won by ${winner}`).toBe(winner === "step" ? 1 : 0);
    }
  },
);

test("a missing await fails the workflow at once, wherever a yield falls", async () => {
  for (let before = 0; before <= MOST_STEPS_BEFORE; before += 1) {
    const careless = actor({
      run: workflow(async (ctx) => {
        for (let i = 0; i < before; i += 1) await ctx.step(`before-${i}`, () => {});
        void ctx.sleep("first", 3_600_000);
        await ctx.sleep("second", 10).catch(() => {});
        await new Promise(() => {});
      }),
      actions: { status: (c) => c.workflow.status().status },
    });
    const world = new World(setup({ use: { careless } }), { nextTurn: (run) => setImmediate(run) });
    const subject = world.actor("careless", ["k"]);
    await subject.call("status");
    for (let turn = 0; turn < 40; turn += 1) await world.turn();
    expect(await subject.call("status"), `${before} steps before`).toBe("failed");
  }
});
