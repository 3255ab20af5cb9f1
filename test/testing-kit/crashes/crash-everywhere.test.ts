import { describe, expect, it } from "vitest";
import { actor, queue, setup, type Registry } from "../../../src/entry/index.js";
import { crashEverywhere, CrashEverywhereError, type TestWorld } from "../../../src/entry/testing.js";
import { db } from "../../../src/entry/db.js";
import { workflow } from "../../../src/entry/workflow.js";

/** What other systems were asked to do. */
let charges: string[] = [];

async function errorOf(ran: Promise<unknown>): Promise<CrashEverywhereError> {
  const error = await ran.then(
    (report) => new Error(`nothing was found: ${JSON.stringify(report)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof CrashEverywhereError)) throw error;
  return error;
}

/** Lets so many turns of the event loop pass. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const shopOf = (charge: (key: string) => void) =>
  setup({
    use: {
      order: actor({
        run: workflow(async (ctx) => {
          await ctx.step("charge", () => charge(`${ctx.key[0]}/charge`));
          await ctx.sleep("cool off", 60_000);
          await ctx.step("ship", () => "sent");
          return "done";
        }),
        actions: { place: () => "placed" },
      }),
    },
  });

const place = async (world: TestWorld<ReturnType<typeof shopOf>["config"]["use"]>): Promise<void> => {
  charges = [];
  expect(await world.client.order.getOrCreate(["o-1"]).place()).toBe("placed");
  await world.advance("1 hour");
};

describe("crashEverywhere", () => {
  it("passes a workload that bears it, once for every moment, and says how often", async () => {
    let worlds = 0;
    const report = await crashEverywhere(
      shopOf((key) => {
        if (!charges.includes(key)) charges.push(key);
      }),
      {
        run: (world) => ((worlds += 1), place(world)),
        check: () => expect(charges).toEqual(["o-1/charge"]),
      },
    );
    expect(report.missed).toBe(0);
    expect(report.commits).toBeGreaterThan(2);
    expect(report.tried).toBe(report.moments);
    expect(report.moments).toBeGreaterThan(2 * report.commits);
    expect(worlds).toBe(report.tried + 1);
  });

  it("finds a charge without a key, and names the step", async () => {
    const error = await errorOf(
      crashEverywhere(
        shopOf((key) => void charges.push(key)),
        { run: place, check: () => expect(charges).toHaveLength(1) },
      ),
    );
    expect(error.message).toMatch(
      /^step "charge" of order \["o-1"\] ran twice when the process of order \["o-1"\] died (before|after) its commit \d: check failed/,
    );
    expect(error.message).toContain("give it a key");
    expect(error.message).not.toContain("\n");
    expect(error.repeatedSteps).toEqual(['"charge" of order ["o-1"]']);
    expect(error.cause).toBeInstanceOf(Error);
  });

  it("finds a variable that a step assigned, gone with the memory", async () => {
    const registry = setup({
      use: {
        sum: actor({
          run: workflow(async (ctx) => {
            let total = 0;
            await ctx.step("add", () => void (total = 33));
            await ctx.sleep("pause", 1_000);
            return total;
          }),
          actions: { begin: () => 0 },
        }),
      },
    });
    const error = await errorOf(
      crashEverywhere(registry, {
        run: async (world) => {
          await world.client.sum.getOrCreate("s").begin();
          await world.advance("1 minute");
        },
      }),
    );
    expect(error.message).toMatch(
      /^sum \["s"\] completed with 0 instead of 33 when .*sum \["s"\].* its commit \d: no step ran again/,
    );
    expect(error.message).toContain("had kept something in memory alone, such as a variable that a step assigned");
    expect(error.message).not.toContain("\n");
  });

  const mail = actor({
    queues: { sold: queue<string>() },
    run: workflow(async (ctx) => (await ctx.queue.next("sold")).body),
    actions: {},
  });
  type Mail = Registry<{ mail: typeof mail }>;
  const shopWith = (tell: (send: () => Promise<unknown>) => unknown) => {
    const shop = actor({
      state: { sold: "" },
      actions: {
        sell: async (c, item: string) => {
          await Promise.resolve();
          c.state.sold = item;
          await tell(() => c.client<Mail>().mail.getOrCreate(["m"]).send("sold", item));
        },
      },
    });
    return setup({ use: { shop, mail } });
  };
  const sell = {
    run: async (world: TestWorld<ReturnType<typeof shopWith>["config"]["use"]>) => {
      await world.client.shop.getOrCreate("s").sell("a lamp");
      await world.advance("1 minute");
    },
  };

  it("finds a send that an action begins after its last await", async () => {
    const error = await errorOf(
      crashEverywhere(
        shopWith((send) => void send()),
        sell,
      ),
    );
    expect(error.message).toBe(
      'mail ["m"] does not exist when the process of mail ["m"] died before its commit 1: what shop ["s"] told it is lost, ' +
        "because nobody awaited the answer: await the send or call, so that it fails and is made again",
    );
  });

  it("passes the same send if the action awaits it: its caller tries again", async () => {
    const report = await crashEverywhere(
      shopWith((send) => send()),
      sell,
    );
    expect(report).toMatchObject({ missed: 0 });
  });

  it("finds what ran on in memory after an action had answered", async () => {
    const late = (send: () => Promise<unknown>): void => {
      void (async () => {
        await turns(5);
        // It would bear the death of whom it tells.
        await send().catch(send);
      })().catch(() => {});
    };
    const run: typeof sell.run = async (world) => {
      await world.client.shop.getOrCreate("s").sell("a lamp");
      await turns(20);
    };
    const error = await errorOf(crashEverywhere(shopWith(late), { run }));
    expect(error.message).toMatch(
      /^mail \["m"\] does not exist when .*shop \["s"\].* its commit 1: what shop \["s"\] told it is lost/,
    );
  });

  it("names what runs twice in another actor, and what a repeated call does again", async () => {
    let calls = 0;
    const registry = setup({
      use: { counter: actor({ state: { n: 0 }, actions: { add: (c) => ((calls += 1), (c.state.n += 1)) } }) },
    });
    const error = await errorOf(
      crashEverywhere(registry, {
        run: async (world) => {
          calls = 0;
          await world.client.counter.getOrCreate("c").add();
        },
        check: () => expect(calls).toBe(1),
      }),
    );
    expect(error.message).toMatch(
      /^check failed \(.*\) when the process of counter \["c"\] died before its commit 1: what it did outside .* it was called again/,
    );
  });

  it("crashes an actor also where it writes by SQL alone", async () => {
    let mails = 0;
    const registry = setup({
      use: {
        list: actor({
          state: {},
          db: db({ onMigrate: (database) => database.execute("CREATE TABLE names (name TEXT)").then(() => {}) }),
          actions: {
            greet: async (c, name: string) => {
              mails += 1;
              await c.db.execute("INSERT INTO names VALUES (?)", name);
            },
          },
        }),
      },
    });
    const error = await errorOf(
      crashEverywhere(registry, {
        run: async (world) => {
          await world.client.list.getOrCreate("l").greet("ada");
          mails = 0;
          await world.client.list.getOrCreate("l").greet("alan");
        },
        check: () => expect(mails).toBe(1),
      }),
    );
    expect(error.message).toContain("died before its commit 2: what it did outside");
  });

  it("says what became of an own message that an action began after it had answered", async () => {
    const registry = setup({
      use: {
        inbox: actor({
          state: { told: 0 },
          queues: { mails: queue<string>() },
          run: workflow(async (ctx) => (await ctx.queue.next("mail")).body),
          actions: {
            post: (c) => {
              void turns(5)
                .then(() => c.queue.send("mails", "hello"))
                .catch(() => {});
            },
          },
        }),
      },
    });
    const error = await errorOf(
      crashEverywhere(registry, {
        run: async (world) => {
          await world.client.inbox.getOrCreate("i").post();
          await turns(20);
        },
      }),
    );
    expect(error.message).toMatch(
      /^inbox \["i"\] is running instead of completed when .*: what an action or a hook had begun without awaiting it is gone/,
    );
  });

  it("repeats a call over a connection that broke before its answer", async () => {
    const registry = setup({
      use: { counter: actor({ state: { n: 0 }, actions: { set: (c, n: number) => (c.state.n = n) } }) },
    });
    const report = await crashEverywhere(registry, {
      run: async (world) => {
        const counter = world.client.counter.getOrCreate("c").connect();
        expect([await counter.set(1), await counter.set(2)]).toEqual([1, 2]);
        await counter.dispose();
      },
      check: (world) => expect(world.state({ name: "counter", key: "c" })).toEqual({ n: 2 }),
    });
    expect(report).toMatchObject({ missed: 0 });
    expect(report.tried).toBeGreaterThan(3);
  });

  it("names a step that came to something else the second time, and why its workflow failed", async () => {
    let reservations = 0;
    const registry = setup({
      use: {
        order: actor({
          run: workflow((ctx) =>
            ctx.step({
              name: "reserve",
              maxRetries: 0,
              run: () => {
                if ((reservations += 1) > 1) throw new Error("reserved already");
              },
            }),
          ),
          actions: { place: () => "placed" },
        }),
      },
    });
    const error = await errorOf(
      crashEverywhere(registry, {
        run: async (world) => {
          reservations = 0;
          await world.client.order.getOrCreate(["o-1"]).place();
          await world.advance("1 hour");
        },
      }),
    );
    expect(error.message).toMatch(/^order \["o-1"\] is failed \(".*reserved already.*"\) instead of completed when/);
    expect(error.message).toContain(
      'step "reserve" of order ["o-1"] ran twice and came to something else, or the workflow',
    );
  });

  it("repeats a call whose answer was lost, and delivers the answer of what was stored", async () => {
    const registry = setup({
      use: { counter: actor({ state: { n: 0 }, actions: { add: (c) => (c.state.n += 1), get: (c) => c.state.n } }) },
    });
    const report = await crashEverywhere(registry, {
      run: async (world) => {
        const counter = world.client.counter.getOrCreate("c");
        expect([await counter.add(), await counter.add()]).toEqual([1, 2]);
      },
      check: async (world) => expect(await world.client.counter.getOrCreate("c").get()).toBe(2),
    });
    expect(report).toEqual({ commits: 2, moments: 6, tried: 6, missed: 0 });
  });

  it("says that memory may be the cause where only an outside call shows it", async () => {
    const mails: string[] = [];
    const order = actor({
      run: workflow(async (ctx) => {
        let id = "";
        await ctx.step("charge", () => void (id = "ch_1"));
        await ctx.sleep("a day", 86_400_000);
        await ctx.step("mail", () => void (mails.push(id), undefined));
      }),
      actions: { place: () => "placed" },
    });
    const error = await errorOf(
      crashEverywhere(setup({ use: { order } }), {
        async run(world) {
          mails.length = 0;
          await world.client.order.getOrCreate("o-1").place();
          await world.advance("2 days");
        },
        check: () => expect(new Set(mails)).toEqual(new Set(["ch_1"])),
      }),
    );
    expect(error.repeatedSteps).toEqual([]);
    expect(error.message).toContain("kept in memory alone");
    expect(error.message).toContain("of a variable that a step assigned, return the value from the step");
  });

  it("takes as many moments as it may, the same for the same seed", async () => {
    const shop = shopOf((key) => {
      if (!charges.includes(key)) charges.push(key);
    });
    const some = await crashEverywhere(shop, { run: place, maxCrashes: 4 });
    expect(some).toMatchObject({ tried: 4, missed: 0 });
    expect(some.moments).toBeGreaterThan(4);
    const charging = shopOf((key) => void charges.push(key));
    const find = async (seed: number): Promise<string> =>
      (await errorOf(crashEverywhere(charging, { run: place, check: () => expect(charges).toHaveLength(1), seed })))
        .message;
    expect(await find(7)).toBe(await find(7));
  });

  it("passes on what the undisturbed workload throws, as it is", async () => {
    const broken = new RangeError("out of stock");
    const shop = shopOf(() => {});
    await expect(crashEverywhere(shop, { run: () => Promise.reject(broken) })).rejects.toBe(broken);
    const check = (): never => {
      throw broken;
    };
    await expect(crashEverywhere(shop, { run: place, check })).rejects.toBe(broken);
  });

  it("compares nothing by itself if it is told so", async () => {
    const registry = setup({
      use: {
        clock: actor({
          run: workflow(async (ctx) => ctx.step("now", () => Date.now())),
          actions: { begin: () => 0 },
        }),
      },
    });
    const run = async (world: TestWorld<(typeof registry)["config"]["use"]>): Promise<void> => {
      await world.client.clock.getOrCreate("c").begin();
      await world.advance("1 minute");
    };
    await expect(crashEverywhere(registry, { run })).rejects.toThrow("completed with");
    expect(await crashEverywhere(registry, { run, compare: false })).toMatchObject({ missed: 0 });
  });

  it("refuses options that are not valid, with a sentence", async () => {
    const shop = shopOf(() => {});
    const cases: [object, string][] = [
      [{}, "run must be a function of a world"],
      [{ run: place, check: 1 }, "check must be a function of a world"],
      [{ run: place, compare: "no" }, "compare must be true or false"],
      [{ run: place, maxCrashes: 0 }, "maxCrashes must be a whole number of at least 1"],
      [{ run: place, seed: 0.5 }, "seed must be a whole number"],
      [{ run: place, settle: "soon" }, "settle"],
      [{ run: place, crashes: 3 }, 'no option "crashes"'],
    ];
    for (const [options, message] of cases)
      await expect(crashEverywhere(shop, options as never)).rejects.toThrow(message);
  });
});
