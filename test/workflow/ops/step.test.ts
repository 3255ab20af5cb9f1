import { describe, expect, it } from "vitest";
import { actor, setup, workflow } from "../../../src/actor/index.js";
import { testWorld } from "../../support/test-world.js";

describe("step", () => {
  it("runs in order and commits its state with its result", async () => {
    const ran: string[] = [];
    const world = testWorld(
      setup({
        use: {
          a: actor({
            state: { n: 0, log: [] as string[] },
            run: workflow(async (ctx) => {
              const one = await ctx.step("one", async (step) => {
                ran.push("one");
                step.state.n += 1;
                return 5;
              });
              await ctx.sleep("pause", 60_000);
              await ctx.step("two", (step) => {
                ran.push("two");
                step.state.n += one;
                step.state.log.push("done");
              });
            }),
            actions: { get: (c) => c.state },
          }),
        },
      }),
      { onLog: (level, e) => console.log(level, e) },
    );
    const a = world.actor("a", ["k"]);
    expect(await a.call("get")).toEqual({ n: 1, log: [] });
    await world.settle();
    expect(await a.call("get")).toEqual({ n: 1, log: [] });
    console.log(a.store.keys, a.store.rows, a.store.alarmAt! - world.clock.now());
    a.crash();
    expect(await a.call("get")).toEqual({ n: 1, log: [] });
    await world.pass(60_000);
    expect(await a.call("get")).toEqual({ n: 6, log: ["done"] });
    expect(ran).toEqual(["one", "two"]);
    expect(a.store.alarmAt).toBe(null);
    console.log(a.store.keys, a.store.rows, a.store.alarmWrites);
  });
});
