import { describe, expect, it } from "vitest";
import { db } from "../../../src/entry/db.js";
import { actor, setup, type Registry } from "../../../src/entry/index.js";
import { crashEverywhere, CrashEverywhereError } from "../../../src/entry/testing.js";
import { workflow } from "../../../src/entry/workflow.js";

/** What other systems were told. */
let told: string[] = [];
const tell = (what: string): void => void told.push(what);

async function errorOf(ran: Promise<unknown>): Promise<CrashEverywhereError> {
  const error: unknown = await ran.then(
    (report) => new Error(`nothing was found: ${JSON.stringify(report)}`),
    (thrown: unknown) => thrown,
  );
  if (error instanceof CrashEverywhereError) return error;
  throw error;
}

describe("moments at which crashEverywhere disturbs", () => {
  it("are what an actor writes in SQL alone, and not what it reads", async () => {
    const registry = setup({
      use: {
        orders: actor({
          db: db({
            onMigrate: async (d) => {
              await d.execute("CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY)");
            },
          }),
          actions: {
            open: () => 1,
            count: async (c) => (await c.db.execute("SELECT * FROM orders")).length,
            place: async (c, id: string) => {
              if ((await c.db.execute("SELECT * FROM orders WHERE id = ?", id)).length > 0) return;
              await c.db.execute("INSERT INTO orders VALUES (?)", id);
              tell(id);
            },
          },
        }),
      },
    });
    const run = async (
      world: Parameters<Parameters<typeof crashEverywhere<typeof registry.config.use>>[1]["run"]>[0],
    ) => {
      told = [];
      const orders = world.client.orders.getOrCreate("k");
      await orders.open();
      await orders.place("o-1");
      expect(await orders.count()).toBe(1);
    };
    // Its creation, and what it wrote afterwards; reading is no moment.
    expect(await crashEverywhere(registry, { run })).toEqual({ commits: 2, moments: 6, tried: 6, missed: 0 });
    const error = await errorOf(crashEverywhere(registry, { run, check: () => expect(told).toHaveLength(1) }));
    expect(error).toMatchObject({ write: "commit", commit: 2, mishap: "dies before" });
    expect(error.message).toContain('when the process of orders ["k"] died before its commit 2: what it did outside');
  });

  it("are deletions of a destroyed actor's rows, whose hook runs again", async () => {
    const registryOf = (onDestroy: () => void) =>
      setup({ use: { cart: actor({ onDestroy, actions: { open: () => 1, end: (c) => c.destroy() } }) } });
    const workload = {
      run: async (world: { client: any; advance(time: string): Promise<void> }) => {
        told = [];
        const cart = world.client.cart.getOrCreate("k");
        await cart.open();
        await cart.end();
        await world.advance("1 minute");
      },
      check: () => expect(told).toEqual(["gone"]),
    };
    const once = registryOf(() => void (told.includes("gone") || tell("gone")));
    const report = await crashEverywhere(once, workload);
    expect(report).toMatchObject({ missed: 0 });
    const error = await errorOf(
      crashEverywhere(
        registryOf(() => tell("gone")),
        workload,
      ),
    );
    expect(error).toMatchObject({ write: "deletion", commit: 1 });
    expect(error.message).toContain('when the process of cart ["k"] died before its deletion 1');
  });

  it("are no evictions of an actor that has a call to answer", async () => {
    const child = actor({
      state: { n: 0 },
      actions: {
        greet: async (c) => {
          c.state.n = 1;
          for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        },
      },
    });
    const parent = actor({
      state: { children: [] as string[] },
      actions: {
        spawn: async (c, key: string) => {
          if (!c.state.children.includes(key)) c.state.children.push(key);
          return c.client<Registry<{ child: typeof child }>>().child.getOrCreate(key).greet();
        },
      },
    });
    const report = await crashEverywhere(setup({ use: { parent, child } }), {
      run: async (world) => {
        const handle = world.client.parent.getOrCreate("p");
        await handle.spawn("a");
        await world.advance("1 minute");
        await handle.spawn("b");
      },
    });
    expect(report).toMatchObject({ missed: 0 });
    // What the parent commits before it calls is followed by no rest.
    expect(report.moments).toBeLessThan(3 * report.commits);
  });

  it("come before the call that the workload makes next, however soon", async () => {
    const counter = actor({
      createVars: () => ({ n: 0 }),
      actions: { add: (c) => (c.vars.n += 1) },
    });
    let last = 0;
    const error = await errorOf(
      crashEverywhere(setup({ use: { counter } }), {
        run: async (world) => {
          const handle = world.client.counter.getOrCreate("k");
          for (let calls = 0; calls < 3; calls += 1) last = await handle.add();
        },
        check: () => expect(last).toBe(3),
      }),
    );
    expect(error).toMatchObject({ mishap: "dies after", commit: 1 });
    expect(error.message).toContain("or kept in memory alone, is gone");
  });
});

describe("what crashEverywhere says", () => {
  it("blames the caller whose call nobody awaited, also if `check` makes the actor that was to be told", async () => {
    const inbox = actor({
      state: { mail: [] as string[] },
      actions: { put: (c, mail: string) => void c.state.mail.push(mail), get: (c) => c.state.mail },
    });
    const sender = actor({
      state: { n: 0 },
      actions: {
        tell: (c) => {
          c.state.n += 1;
          void c.client<Registry<{ inbox: typeof inbox }>>().inbox.getOrCreate("i").put("hello");
        },
      },
    });
    const error = await errorOf(
      crashEverywhere(setup({ use: { sender, inbox } }), {
        run: async (world) => {
          await world.client.sender.getOrCreate("s").tell();
          await world.advance("1 minute");
        },
        check: async (world) => expect(await world.client.inbox.getOrCreate("i").get()).toEqual(["hello"]),
      }),
    );
    expect(error.message).toMatch(
      /^check failed \(.*\), and inbox \["i"\] does not exist when .*: what sender \["s"\] told it/,
    );
  });

  it("names the divergence of code that the clock has led another way", async () => {
    let start = 0;
    const clocked = actor({
      run: workflow(async (ctx) => {
        await ctx.step("first", () => 1);
        if (Date.now() < start + 500) await ctx.step("early", () => 1);
        await ctx.sleep("pause", 1_000);
      }),
      actions: { begin: () => 1 },
    });
    const error = await errorOf(
      crashEverywhere(setup({ use: { clocked } }), {
        run: async (world) => {
          start = world.now();
          await world.client.clocked.getOrCreate("k").begin();
          await world.advance("1 minute");
        },
      }),
    );
    expect(error.message).toMatch(
      /clocked \["k"\] is running instead of completed when .*: The code called sleep "pause"/,
    );
    expect(error.message).toContain("must be given by a step");
  });

  it("does not say of a step that runs otherwise only that it ran again", async () => {
    let runs = 0;
    const lottery = actor({
      run: workflow(async (ctx) => {
        await ctx.step(`ticket ${(runs += 1)}`, () => 1);
      }),
      actions: { begin: () => 1 },
    });
    const error = await errorOf(
      crashEverywhere(setup({ use: { lottery } }), {
        run: async (world) => {
          runs = 0;
          await world.client.lottery.getOrCreate("k").begin();
        },
      }),
    );
    expect(error.repeatedSteps).toEqual([]);
    expect(error.message).toContain("no step ran again");
    expect(error.message).toContain("such as a variable");
  });
});
