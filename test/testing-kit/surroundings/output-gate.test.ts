import { expect, test } from "vitest";
import { actor, setup } from "../../../src/entry/index.js";
import { testWorld } from "../../../src/entry/testing.js";
import { workflow } from "../../../src/entry/workflow.js";

const CHARGES = "https://api.example.com/charges";

const order = actor({
  actions: { place: () => "placed" },
  run: workflow(async (ctx) => {
    await ctx.step("charge", async (step) => {
      await fetch(CHARGES, { method: "POST", headers: { "idempotency-key": step.actorId } });
    });
  }),
});

// A creation that is lost is made again under another id: a request that had left before it would be nobody's.
test.each([1, 2, 3, 4, 5, 6])(
  "a request leaves once what was written before it is durable, also when commit %i is lost",
  async (commit) => {
    await using world = await testWorld(setup({ use: { order } }));
    const keys = new Set<string | null>();
    world.fetch.on(CHARGES, ({ headers }) => void keys.add(headers.get("idempotency-key")));
    world.crashOn({ name: "order", key: ["o"] }, { commit, before: true });
    const handle = world.client.order.getOrCreate("o");
    await handle.place().catch(() => handle.place());
    await world.advance("1 minute");
    expect(keys.size).toBe(1);
    expect(world.history(handle).status).toBe("completed");
  },
);
