import { actor, event, queue } from "perdure";
import { db } from "perdure/db";
import { Loop, workflow } from "perdure/workflow";

/** Something of everything that the inspector shows. */
export const inspected = actor({
  state: { total: 12n, at: new Date(5), list: [1, "a"] },
  connState: { seat: 1 },
  events: { told: event<string>() },
  queues: { payments: queue<unknown>(), waiting: queue<unknown>() },
  inspector: { tabs: [{ id: "console", hidden: true }] },
  db: db({
    onMigrate: async (c) => {
      await c.execute("CREATE TABLE IF NOT EXISTS lines (name TEXT NOT NULL, price INTEGER)");
    },
  }),
  actions: {
    touch: () => {},
    add: (c, n: bigint) => (c.state.total += n),
    give: (_c, given: unknown) => given,
    plan: async (c) => {
      await c.schedule.after(3_600_000, "touch");
      await c.cron.every({ name: "hourly", interval: 3_600_000, action: "touch" });
      await c.cron.set({ name: "daily", expression: "0 8 * * *", timezone: "Europe/Berlin", action: "touch" });
    },
  },
  run: workflow(async (ctx) => {
    await ctx.getVersion("gate", 1);
    await ctx.loop({
      name: "shopping",
      state: 0,
      run: async (inner, n) => {
        await inner.step("add", () => n);
        return n === 2 ? Loop.break("done") : Loop.continue(n + 1);
      },
    });
    await ctx.rollbackCheckpoint("paid");
    await ctx.join("both", { a: { run: (b) => b.step("one", () => 1) }, b: { run: (b) => b.step("two", () => 2) } });
    await ctx.race("first", [
      { name: "fast", run: (b) => b.step("now", () => 1) },
      { name: "slow", run: (b) => b.sleep("long", 3_600_000) },
    ]);
    await ctx.queue.next("payment", { names: ["payments"] });
    await ctx.tryStep({
      name: "charge",
      maxRetries: 0,
      run: () => {
        throw new Error("502");
      },
    });
    await ctx.sleep("rest", 3_600_000);
  }),
});
