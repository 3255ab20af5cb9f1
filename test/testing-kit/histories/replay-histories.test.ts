import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { actor, setup } from "../../../src/entry/index.js";
import { HistoryReplayError, replayHistories, testWorld, type RecordedHistory } from "../../../src/entry/testing.js";
import { workflow } from "../../../src/entry/workflow.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "histories-"));
});
afterEach(() => rm(folder, { recursive: true }));

type Ctx = Parameters<Parameters<typeof workflow>[0]>[0];

function shop(run: (ctx: Ctx) => Promise<unknown>) {
  const order = actor({ run: workflow(run as never), actions: { get: () => 0 } });
  return setup({ use: { order } });
}

const charge = async (ctx: Ctx): Promise<void> => {
  await ctx.step("charge", () => ({ id: "ch_1", card: "4242", at: new Date(0), live: true }));
  await ctx.sleep("a day", 86_400_000);
  await ctx.step("ship", () => "sent");
};

async function record(run: (ctx: Ctx) => Promise<unknown>, file?: string): Promise<RecordedHistory> {
  await using world = await testWorld(shop(run));
  const order = world.client.order.getOrCreate(["o-1"]);
  await order.get();
  await world.idle();
  return world.record(order, file === undefined ? {} : { file: join(folder, file) });
}

describe("replayHistories", () => {
  it("replays a folder of recorded histories and gives each, without running a step", async () => {
    await record(charge, "a.json");
    await record(charge, "paid/b.json");
    let ran = 0;
    const counted = shop(async (ctx) => {
      await ctx.step("charge", () => (ran += 1));
      await ctx.sleep("a day", 86_400_000);
      await ctx.step("ship", () => (ran += 1));
    });
    expect(await replayHistories(counted, folder)).toEqual([
      { file: join(folder, "a.json"), actor: "order", outcome: "matched" },
      { file: join(folder, "paid/b.json"), actor: "order", outcome: "matched" },
    ]);
    expect(ran).toBe(0);
  });

  it("throws one error that lists location, found and expected of each that diverges", async () => {
    await record(charge, "a.json");
    await record(async (ctx) => ctx.step("greet", () => 1), "b.json");
    const renamed = shop(async (ctx) => {
      await ctx.step("bill", () => 1);
      await ctx.sleep("a day", 86_400_000);
    });
    const error = await replayHistories(renamed, folder).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(HistoryReplayError);
    const { message, replays } = error as HistoryReplayError;
    expect(message).toContain("2 of 2 recorded histories do not match today's code");
    expect(message).toContain(
      `${join(folder, "a.json")} (order): The code called step "bill" at bill, but the history has step "charge" next`,
    );
    expect(message).toContain(
      `${join(folder, "b.json")} (order): The code called step "bill" at bill, but the history has step "greet" next`,
    );
    expect(replays.map(({ outcome }) => outcome)).toEqual(["diverged", "diverged"]);
  });

  it("matches an older deploy through a version gate, and diverges without", async () => {
    await record(charge, "a.json");
    const changed = (isGated: boolean) =>
      shop(async (ctx) => {
        await ctx.step("charge", () => 1);
        if (!isGated || (await ctx.getVersion("receipt", 2)) >= 2) await ctx.step("receipt", () => 1);
        await ctx.sleep("a day", 86_400_000);
      });
    await expect(replayHistories(changed(false), folder)).rejects.toThrow(
      'The code called step "receipt" at receipt, but the history has sleep "a day" next',
    );
    expect(await replayHistories(changed(true), folder)).toMatchObject([{ outcome: "matched" }]);
  });

  it("fails code that fetches outside of a step, and sends nothing", async () => {
    const history = await record(charge);
    const fetching = shop(async (ctx) => {
      await fetch("https://api.example.com/rates").catch(() => undefined);
      await charge(ctx);
    });
    const before = globalThis.fetch;
    await expect(replayHistories(fetching, [history])).rejects.toThrow(
      "The code fetches https://api.example.com/rates outside of a step",
    );
    expect(globalThis.fetch).toBe(before);
  });

  it("fails code that awaits what does not come, with the time that it was given", async () => {
    const history = await record(charge);
    const stuck = shop(async () => new Promise(() => {}));
    await expect(replayHistories(stuck, [history], { timeout: 1 })).rejects.toThrow(
      "The code awaits something at (root) that is not an operation of its context",
    );
  });

  it("gives the globals back also when a world begins meanwhile, and ends after it", async () => {
    const { fetch: before } = globalThis;
    const history = await record((ctx) => ctx.sleep("a day", 86_400_000));
    let began = (): void => {};
    const isRunning = new Promise<void>((resolve) => (began = resolve));
    let goOn = (): void => {};
    const mayGoOn = new Promise<void>((resolve) => (goOn = resolve));
    const held = shop(async (ctx) => {
      began();
      await mayGoOn;
      await ctx.sleep("a day", 86_400_000);
    });
    const replayed = replayHistories(held, [history]);
    await isRunning;
    const world = await testWorld(held);
    goOn();
    expect(await replayed).toMatchObject([{ outcome: "matched" }]);
    await world.end();
    expect(globalThis.fetch).toBe(before);
  });

  it("refuses options that are not valid, and what is no registry", async () => {
    const history = await record(charge);
    const cases: [object, string][] = [
      [{ timeout: Number.NaN }, "timeout must be a number of milliseconds"],
      [{ timeout: -1 }, "timeout must be a number of milliseconds"],
      [{ timeout: Infinity }, "timeout must be a number of milliseconds"],
      [{ env: null }, "env must be an object"],
    ];
    for (const [options, message] of cases)
      await expect(replayHistories(shop(charge), [history], options)).rejects.toThrow(message);
    await expect(replayHistories({}, [history])).rejects.toThrow("the registry must be one that setup() made");
  });

  it("bears a long history, however slow it is: the time counts from where the code has come to", async () => {
    const long =
      (onStep: () => void) =>
      async (ctx: Ctx): Promise<void> => {
        for (let number = 0; number < 400; number += 1) {
          await ctx.step(`s${number}`, () => number);
          onStep();
        }
      };
    const history = await record(long(() => {}));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const slow = shop(long(() => void vi.advanceTimersByTime(6)));
      expect(await replayHistories(slow, [history])).toMatchObject([{ outcome: "matched" }]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("gives the workflow the bindings it reads", async () => {
    const byPlan = async (ctx: Ctx): Promise<unknown> => ctx.step(`on ${(ctx.env as { plan?: string }).plan}`, () => 1);
    await using world = await testWorld(shop(byPlan), { env: { plan: "free" } });
    await world.client.order.getOrCreate(["o"]).get();
    await world.idle();
    const history = await world.record(world.client.order.getOrCreate(["o"]));
    expect(await replayHistories(shop(byPlan), [history], { env: { plan: "free" } })).toMatchObject([
      { outcome: "matched" },
    ]);
    await expect(replayHistories(shop(byPlan), [history])).rejects.toThrow('The code called step "on undefined"');
  });

  it("says what is wrong with a folder, a file or a history, a sentence each", async () => {
    const registry = shop(charge);
    await expect(replayHistories(registry, join(folder, "none"))).rejects.toThrow("There is no folder");
    await expect(replayHistories(registry, folder)).rejects.toThrow("has no recorded history: they are .json files");
    await expect(replayHistories(registry, [])).rejects.toThrow("was given no history");
    await expect(replayHistories(registry, 7 as never)).rejects.toThrow("takes a folder, or an array of files");
    await expect(replayHistories(registry, folder, { tiemout: 1 } as never)).rejects.toThrow('no option "tiemout"');
    const file = join(folder, "a.json");
    await record(charge, "a.json");
    const good = await readFile(file, "utf8");
    const cases: [string, string][] = [
      [good.slice(0, 40), "The file is not JSON"],
      [good.replace("perdure-history/1", "perdure-history/2"), 'its format is "perdure-history/2"'],
      [good.replace('"actor": "order"', '"actor": "invoice"'), 'The registry has no actor named "invoice"'],
      [good.replace('"storage": 1', '"storage": 1000'), "Its storage format is 1000"],
      ["null", "it names no format"],
    ];
    for (const [text, message] of cases) {
      await writeFile(file, text);
      await expect(replayHistories(registry, folder)).rejects.toThrow(message);
    }
    await expect(replayHistories(registry, [join(folder, "gone.json")])).rejects.toThrow("The file cannot be read");
  });
});

describe("world.record", () => {
  it("writes JSON that people can read, a line for each value", async () => {
    await record(charge, "a.json");
    const lines = (await readFile(join(folder, "a.json"), "utf8")).split("\n");
    expect(lines[1]).toBe('  "format": "perdure-history/1",');
    expect(lines).toContain('        "card": "4242",');
  });

  it("refuses what has no workflow, and unknown options", async () => {
    const plain = setup({ use: { plain: actor({ state: { n: 1 }, actions: { get: (c) => c.state.n } }) } });
    await using world = await testWorld(plain);
    const handle = world.client.plain.getOrCreate("p");
    await expect(world.record(handle)).rejects.toThrow("There is no actor here");
    await handle.get();
    await expect(world.record(handle)).rejects.toThrow('The actor "plain" has no workflow');
    await expect(world.record(handle, { redacted: true } as never)).rejects.toThrow('no option "redacted"');
    await expect(world.record(handle, { redact: "all" as never })).rejects.toThrow("redact must be true or a function");
  });
});
