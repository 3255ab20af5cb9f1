import { describe, expect, it } from "vitest";
import { actor, queue, setup } from "../../src/actor/index.js";
import type { World } from "../../src/testing/index.js";
import { testWorld } from "../support/test-world.js";

/** What `other` was asked, in order; `gate` holds its answers. */
interface Scene {
  readonly world: World;
  readonly asked: string[];
  readonly notes: string[];
  answer(): void;
}

function scene(): Scene {
  const asked: string[] = [];
  const notes: string[] = [];
  let answer: () => void = () => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const other = actor({
    actions: {
      ask: async (_c, what: string) => {
        asked.push(what);
        await answered;
        if (what === "refused") throw new Error("no");
      },
    },
  });
  const twice = async (c: { client(): unknown }, first: string): Promise<void> => {
    const client = c.client() as { other: { getOrCreate(key: string): { ask(what: string): Promise<void> } } };
    const handle = client.other.getOrCreate("o");
    try {
      await handle.ask(first);
      notes.push("answered");
    } catch {
      notes.push("refused");
    }
    await handle.ask("second");
    notes.push("answered again");
  };
  const caller = actor({ actions: { twice, ping: () => "pong" } });
  const world = testWorld(setup({ use: { caller, other } }));
  return { world, asked, notes, answer };
}

describe("a call between actors", () => {
  it("settles for a caller that lives, which then makes the next", async () => {
    const { world, asked, notes, answer } = scene();
    const call = world.actor("caller", ["c"]).call("twice", "refused");
    await world.settle();
    answer();
    await call;
    expect([asked, notes]).toEqual([
      ["refused", "second"],
      ["refused", "answered again"],
    ]);
  });

  it.each([
    ["crash", "first"],
    ["crash", "refused"],
    ["evict", "first"],
    ["evict", "refused"],
  ] as const)("never settles for a caller that is gone (%s, %s), which makes no other", async (end, first) => {
    const { world, asked, notes, answer } = scene();
    const caller = world.actor("caller", ["c"]);
    void caller.call("twice", first).catch(() => {});
    await world.settle();
    expect(asked).toEqual([first]);
    await caller[end]();
    expect(await caller.call("ping"), "the next life").toBe("pong");
    answer();
    await world.settle();
    await world.pass(60_000);
    expect([asked, notes]).toEqual([[first], []]);
  });

  it("does not leave a process that is gone", async () => {
    let go: () => void = () => {};
    const held = new Promise<void>((resolve) => (go = resolve));
    const asked: number[] = [];
    const other = actor({ actions: { ask: () => asked.push(1) } });
    const late = actor({
      actions: {
        late: async (c) => {
          await held;
          await c.client().other.getOrCreate("o").ask();
        },
      },
    });
    const world = testWorld(setup({ use: { late, other } }));
    const subject = world.actor("late", ["c"]);
    void subject.call("late").catch(() => {});
    await world.settle();
    subject.crash();
    go();
    await world.settle();
    expect(asked).toEqual([]);
  });
});

describe("a process that is gone", () => {
  it.each(["crash", "evict"] as const)("logs nothing, and its waits for time do not end (%s)", async (end) => {
    let go: () => void = () => {};
    const held = new Promise<void>((resolve) => (go = resolve));
    const notes: string[] = [];
    const logged: unknown[] = [];
    const late = actor({
      queues: { jobs: queue<string>() },
      actions: {
        late: async (c) => {
          c.log.info("alive");
          await held;
          notes.push("goes on here, as it cannot on the platform");
          c.log.info("gone");
          await c.queue.next({ names: ["jobs"], timeout: 1_000 });
          notes.push("never");
        },
      },
    });
    const world = testWorld(setup({ use: { late } }), { onLog: (_level, entry) => logged.push(entry) });
    const subject = world.actor("late", ["c"]);
    void subject.call("late").catch(() => {});
    await world.settle();
    await subject[end]();
    go();
    await world.pass(60_000);
    expect(notes).toEqual(["goes on here, as it cannot on the platform"]);
    expect(logged).toMatchObject([{ msg: "alive" }]);
  });
});

describe("the entries into a process", () => {
  it("are all told, with the process that they are of", async () => {
    const entered: { key: string; alive: () => boolean }[] = [];
    let inside = 0;
    const seen: Record<string, number> = {};
    const note = (what: string) => (): void => void (seen[what] = inside);
    const subject = actor({
      options: { actionTimeout: 5_000 },
      onWake: note("onWake"),
      onConnect: note("onConnect"),
      onDisconnect: note("onDisconnect"),
      onRequest: () => (note("onRequest")(), new Response()),
      actions: {
        act: note("action"),
        plan: (c) => c.schedule.after(1_000, "planned"),
        planned: note("alarm"),
        hang: (c) =>
          new Promise<void>(() => {
            c.abortSignal.addEventListener("abort", note("timer"));
          }),
      },
    });
    const world = testWorld(setup({ use: { subject } }), {
      enter: ({ actor: { key }, isAlive }, run) => {
        entered.push({ key: key.join(), alive: isAlive });
        inside += 1;
        try {
          return run();
        } finally {
          inside -= 1;
        }
      },
    });
    const it = world.actor("subject", ["k"]);
    await it.call("act");
    const first = entered[0]?.alive;
    expect(first?.()).toBe(true);
    await it.fetch("/");
    const socket = await it.connect();
    await socket.call(1, "act");
    await it.call("plan");
    const hanging = it.call("hang").catch((error: { code: string }) => error.code);
    await world.pass(5_000);
    expect(await hanging).toBe("action_timed_out");
    await socket.hangUp();
    await world.settle();
    expect(Object.keys(seen).sort()).toEqual([
      "action",
      "alarm",
      "onConnect",
      "onDisconnect",
      "onRequest",
      "onWake",
      "timer",
    ]);
    expect(new Set(entered.map(({ key }) => key))).toEqual(new Set(["k"]));
    expect(seen["timer"], "synchronous in its entry").toBe(1);
    it.crash();
    expect(first?.()).toBe(false);
    await it.call("act");
    expect([first?.(), entered.at(-1)?.alive()]).toEqual([false, true]);
  });
});
