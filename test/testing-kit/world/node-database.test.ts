import { expect, test } from "vitest";
import { db } from "../../../src/entry/db.js";
import { actor, setup } from "../../../src/entry/index.js";
import { testWorld } from "../../../src/entry/testing.js";
import { workflow } from "../../../src/entry/workflow.js";
import { openNodeDatabase } from "../../../src/testing-kit/internal.js";

const ledger = actor({
  state: {},
  db: db({
    onMigrate: async (database) => {
      await database.execute("CREATE TABLE IF NOT EXISTS entries (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL)");
    },
  }),
  run: workflow(async (ctx) => {
    await ctx.step(
      "opening",
      async (step) => void (await step.db.execute("INSERT INTO entries (amount) VALUES (?)", 7)),
    );
  }),
  actions: {
    add: async (c, amount: number) => void (await c.db.execute("INSERT INTO entries (amount) VALUES (?)", amount)),
    sum: async (c) => {
      const [row] = await c.db.execute("SELECT sum(amount) AS total FROM entries");
      return (row as { total: number }).total;
    },
  },
});

test("SQL works in a world without an option, and is stored with the rest", async () => {
  await using world = await testWorld(setup({ use: { ledger } }));
  const one = world.client.ledger.getOrCreate("one");
  await one.add(3);
  await world.idle();
  expect(await one.sum()).toBe(10);
  world.crash(one);
  expect(await one.sum()).toBe(10);
  expect(await world.client.ledger.getOrCreate("two").sum()).toBe(7);
});

test("a Node without SQLite says what to do", () => {
  expect(() => openNodeDatabase(() => undefined)).toThrow(/need node:sqlite .* use Node 22\.13 or newer$/);
});
