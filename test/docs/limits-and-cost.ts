import { expect } from "vitest";
import { read } from "../architecture/source-files.js";
import { Stage, type Claims } from "./stage.js";

const DAY_MS = 24 * 3_600_000;

export const limitsAndCost: Readonly<Record<string, Claims>> = {
  "order.ts": {
    "writes the rows that the table says, and what they cost is added up": async (example) => {
      const stage = new Stage(example);
      const order = stage.actor("order");
      const rows: number[] = [];
      const phase = async (happen: () => Promise<unknown>): Promise<void> => {
        const before = order.rowsWritten;
        await happen();
        rows.push(order.rowsWritten - before);
      };
      await phase(() => order.call("getState"));
      await phase(() => stage.world.pass(3 * DAY_MS));
      await phase(() => order.send("deliveries", { at: "the door" }));
      await phase(() => stage.world.pass(13 * DAY_MS));
      await phase(() => stage.world.pass(DAY_MS));
      await phase(() => order.call("getState"));
      expect(await order.call("getState")).toEqual({ log: ["reservations", "charges", "labels", "mails", "payouts"] });

      const guide = read("docs/guides/limits-and-cost.md");
      const table = /of this order[\s\S]*?\n\n/.exec(guide)?.[0] ?? "";
      const said = [...table.matchAll(/\| \**(\d+)\** \|$/gm)].map(([, count]) => Number(count));
      expect(said).toEqual([...rows, rows.reduce((sum, each) => sum + each)]);

      const prices = [...guide.matchAll(/\| ([\d,]+) (M|GB|GB-s) \| \$([\d.]+) \/ (M|GB-month) \| \$([\d.]+) \|$/gm)];
      const costs = prices.map(
        ([, amount = "", unit, price]) =>
          (Number(amount.replaceAll(",", "")) * Number(price)) / (unit === "GB-s" ? 1_000_000 : 1),
      );
      expect(prices.map(([, , , , , cost]) => Number(cost))).toEqual(costs.map((cost) => Math.round(cost * 100) / 100));
      expect(guide).toContain(
        `About $${Math.round(costs.reduce((sum, cost) => sum + cost))}: three thousandths of a cent an order.`,
      );
      expect(prices).toHaveLength(6);
    },
  },
};
