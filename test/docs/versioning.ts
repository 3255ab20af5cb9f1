import type { WorkflowStatus } from "perdure";
import { expect } from "vitest";
import { read } from "../architecture/source-files.js";
import { Stage, type Claims, type Example, type Player } from "./stage.js";

const DAY_MS = 24 * 3_600_000;

/** An order that has begun under one code, is asleep for a day, and wakes under another. */
async function deployed(
  first: Example | undefined,
  second: Example | undefined,
): Promise<{ stage: Stage; order: Player }> {
  const stage = new Stage(first as Example);
  const order = stage.actor("order");
  await order.call("getState");
  await stage.world.pass(DAY_MS);
  const next = stage.deploy(order, second as Example);
  await next.world.pass(5 * DAY_MS);
  return { stage, order: next };
}

async function fresh(example: Example): Promise<Player> {
  const stage = new Stage(example);
  const order = stage.actor("order");
  await order.call("getState");
  await stage.world.pass(5 * DAY_MS);
  return order;
}

export const versioning: Readonly<Record<string, Claims>> = {
  "order-1.ts": {
    "charges, waits, asks": async (example) => {
      expect(await (await fresh(example)).call("getState")).toEqual({ log: ["charged", "survey"] });
    },
    "stops without harm when a step in its middle has no gate, says where, and goes on once the code fits": async (
      first,
      blocks,
    ) => {
      // The second version's history under the first one's code: the step "insure" is met by nothing.
      const { stage, order } = await deployed(blocks["order-2.ts"], first);
      const { status, error } = (await order.call("getStatus")) as WorkflowStatus;
      expect([status, error?.name]).toEqual(["diverged", "HistoryDivergedError"]);
      expect(read("docs/guides/versioning.md").replaceAll(/\s+/g, " ")).toContain(error?.message);
      expect(await order.call("getState")).toEqual({ log: ["charged", "insured"] });
      const mended = stage.deploy(order, blocks["order-2.ts"] as Example);
      await mended.world.pass(3_600_000);
      expect(await mended.call("getState")).toEqual({ log: ["charged", "insured", "survey"] });
    },
  },
  "order-2.ts": {
    "gives 1 to an order that travels already: it is not insured": async (second, blocks) => {
      const { order } = await deployed(blocks["order-1.ts"], second);
      expect(await order.call("getState")).toEqual({ log: ["charged", "survey"] });
      expect(await order.call("getStatus")).toMatchObject({ status: "completed" });
    },
    "lets an order that travels already sleep to its stored day, whatever wakes it": async (second, blocks) => {
      const stage = new Stage(blocks["order-1.ts"] as Example);
      const order = stage.actor("order");
      await order.call("getState");
      await stage.world.pass(DAY_MS);
      const next = stage.deploy(order, second);
      for (let day = 1; day < 5; day += 1) {
        await next.send("nobody reads this", day);
        await next.world.pass(DAY_MS - 1_000);
        expect(await next.call("getState"), `day ${day}`).toEqual({ log: ["charged"] });
      }
      await next.world.pass(4_000);
      expect(await next.call("getState")).toEqual({ log: ["charged", "survey"] });
    },
    "insures a new order": async (second) => {
      expect(await (await fresh(second)).call("getState")).toEqual({ log: ["charged", "insured", "survey"] });
    },
  },
  "order-3.ts": {
    "fits a history with the step, and fills in what is new in the state": async (third, blocks) => {
      const { order } = await deployed(blocks["order-1.ts"], third);
      expect(await order.call("getState")).toEqual({ log: ["charged", "survey"], carrier: "unknown" });
      expect(await order.call("getStatus")).toMatchObject({ status: "completed" });
    },
    "fits a new one": async (third) => {
      expect(await (await fresh(third)).call("getState")).toEqual({ log: ["survey"], carrier: "" });
    },
  },
};
