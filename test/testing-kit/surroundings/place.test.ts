import { describe, expect, it } from "vitest";
import { actor, setup } from "../../../src/entry/index.js";
import { testEnv, testWorld } from "../../../src/entry/testing.js";
import { workflow } from "../../../src/entry/workflow.js";

describe("env of a world", () => {
  it("is `c.env` of actions and steps, each world's own", async () => {
    const planned = actor({
      state: { plan: "" },
      run: workflow(async (ctx) => {
        await ctx.step("read", (step) => void (step.state.plan = (step.env as { PLAN: string }).PLAN));
      }),
      actions: { plans: (c) => [(c.env as unknown as { PLAN: string }).PLAN, c.state.plan] },
    });
    const registry = setup({ use: { planned } });
    await using free = await testWorld(registry, { env: { PLAN: "free" } });
    await using pro = await testWorld(registry, { env: { PLAN: "pro" } });
    await Promise.all([free, pro].map(async (world) => world.client.planned.getOrCreate("k").plans()));
    expect(await free.client.planned.getOrCreate("k").plans()).toEqual(["free", "free"]);
    expect(await pro.client.planned.getOrCreate("k").plans()).toEqual(["pro", "pro"]);
  });

  it.each([undefined, null, "PLAN=x"])("testEnv refuses %j", (env) => {
    expect(() => testEnv(env as never)).toThrow(new TypeError("testEnv(): env must be an object"));
  });
});
