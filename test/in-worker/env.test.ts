import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { createHandler } from "../../src/entry/cloudflare.js";
import { actor, setup } from "../../src/entry/index.js";
import { workflow } from "../../src/entry/workflow.js";
import { serve } from "../support/worker.js";

// `c.env` on the platform.

const asked = actor({
  state: { isInSteps: false },
  run: workflow(async (ctx) => {
    await ctx.step("look", (step) => void (step.state.isInSteps = "ACTORS" in step.env));
  }),
  actions: {
    look: (c) => ["ACTORS" in c.env, c.state.isInSteps],
    useBinding: (c) => {
      const { ACTORS } = c.env as unknown as { ACTORS: DurableObjectNamespace };
      return ACTORS.idFromName("x").toString();
    },
  },
});
const registry = setup({ use: { asked } });
serve(registry);
const { ACTORS } = env as unknown as { ACTORS: DurableObjectNamespace };
const { asked: actors } = createHandler(registry, { logLevel: "silent" }).client(env);

it("c.env has the Worker's bindings, in actions and in steps, and they work", async () => {
  const handle = actors.getOrCreate(["k"]);
  await handle.look();
  expect(await handle.look()).toEqual([true, true]);
  expect(await handle.useBinding()).toBe(ACTORS.idFromName("x").toString());
});
