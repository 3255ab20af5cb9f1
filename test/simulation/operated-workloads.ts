import { actor, workflow } from "../../src/actor/index.js";
import { encodeValue } from "../../src/protocol/index.js";
import { one, type Workload } from "./workload.js";

const by = "ada";

/** Programs that operators act on through the inspector: each act again until it is acknowledged. */
export const operatedWorkloads: readonly Workload[] = [
  {
    name: "a failed workflow whose state an operator mends, and that they recover",
    registry: (clock, ran) =>
      one(
        actor({
          state: { card: "stolen", paid: 0 },
          run: workflow(async (ctx) => {
            await ctx.step("reserve", async () => {
              ran("reserve");
              await clock.delay(1);
            });
            await ctx.step({
              name: "charge",
              maxRetries: 0,
              run: async (step) => {
                ran("charge");
                await clock.delay(2);
                if (step.state.card === "stolen") throw new Error("refused");
                step.state.paid += 1;
              },
            });
            await ctx.sleep("cool-off", 1_500);
            await ctx.step("ship", () => void ran("ship"));
          }),
          actions: { get: (c) => c.state },
        }),
      ),
    acts: [
      { about: "setState", value: encodeValue({ card: "4242", paid: 0 }), ifMatch: "*", by },
      { about: "recover", by },
    ],
  },
  {
    name: "a workflow that waits, and that an operator cancels after draining its queue",
    registry: (_clock, ran) =>
      one(
        actor({
          state: { told: 0 },
          onStateChange: () => {},
          run: workflow(async (ctx) => {
            await ctx.step("begin", () => void ran("begin"));
            await ctx.queue.next("approval", { names: ["approvals"] });
            await ctx.step("never", () => void ran("never"));
          }),
          actions: { get: (c) => c.state },
        }),
      ),
    sends: ["nobody reads this"],
    acts: [
      { about: "drain", by },
      { about: "cancel", by },
    ],
    data: async (subject) => [...subject.store.dump().keys()].filter((key) => key.startsWith("m/")),
  },
];
