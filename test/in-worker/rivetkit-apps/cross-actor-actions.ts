// oxlint-disable import/no-cycle -- a type only, as apps have it
import { actor, UserError } from "rivetkit";
import type { registry } from "./registry.js";

export const inventory = actor({
  state: { stock: {} as Record<string, number> },
  actions: {
    fill: (c, product: string, count: number) => {
      c.state.stock[product] = (c.state.stock[product] ?? 0) + count;
    },
    reserve: (c, product: string, count: number): number => {
      const left = (c.state.stock[product] ?? 0) - count;
      if (left < 0) throw new UserError("Not enough in stock", { code: "out_of_stock", metadata: { product } });
      c.state.stock[product] = left;
      return left;
    },
  },
});

export const checkout = actor({
  state: { items: [] as { product: string; count: number }[], status: "open" as "open" | "paid" },
  actions: {
    add: async (c, product: string, count: number): Promise<number> => {
      const client = c.client<typeof registry>();
      const left: number = await client.inventory.getOrCreate("main").reserve(product, count);
      c.state.items.push({ product, count });
      return left;
    },
    pay: (c): string => (c.state.status = "paid"),
    items: (c): { product: string; count: number }[] => c.state.items,
  },
});
