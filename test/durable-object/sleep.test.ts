import { describe, expect, it } from "vitest";
import { actor, setup } from "../../src/entry/index.js";
import { workflow } from "../../src/entry/workflow.js";
import { serve } from "../support/worker.js";
import { pendingTimers } from "./pending-timers.js";
import { clock, objectOf, TestObject } from "./test-object.js";

// Logical sleep on the real runtime: from the alarm, in memory and after an eviction.

const seen = new Map<string, string[]>();
function note(c: { readonly key: string[] }, what: string): void {
  const notes = seen.get(c.key.join("/")) ?? [];
  seen.set(c.key.join("/"), notes);
  notes.push(what);
}
const notesOf = (key: string): string[] => seen.get(key)?.splice(0) ?? [];
let deaths = 0;

const sleeper = actor({
  state: { n: 0, slept: 0 },
  createVars: () => ({ calls: 0 }),
  onWake: (c) => note(c, "onWake"),
  onSleep: async (c) => {
    note(c, c.aborted ? "onSleep" : "onSleep, not aborted");
    await scheduler.wait(1);
    if (deaths > 0) {
      deaths -= 1;
      objectOf(c.name, c.key).die();
    }
    c.state.slept += 1;
  },
  run: async (c) => {
    note(c, "run");
    for await (const _ of c.queue.iter()) c.state.n += 10;
    note(c, "run is over");
  },
  actions: {
    add: (c) => {
      c.vars.calls += 1;
      c.state.n += 1;
      return [c.state.n, c.state.slept, c.vars.calls];
    },
    sleep: (c) => c.sleep(),
  },
  options: { sleepTimeout: 60_000 },
});

serve(
  setup({
    use: {
      sleeper,
      flow: actor({
        state: { slept: 0 },
        onSleep: (c) => {
          c.state.slept += 1;
        },
        run: workflow(async (ctx) => {
          await ctx.sleep("long", 3_600_000);
        }),
        actions: { status: (c) => [c.workflow.status().status, c.state.slept] },
        options: { sleepTimeout: 60_000 },
      }),
    },
  }),
);

/** Moves the clock to the alarm and delivers it. */
async function nextAlarm(object: TestObject): Promise<void> {
  clock.moveTo((await object.alarmAt()) ?? 0);
  await object.alarm().catch(() => {});
  await object.settle();
}

describe("an idle actor with onSleep", () => {
  it("gets it from its alarm, holds no timer before, and starts anew at the next event", async () => {
    const object = new TestObject("sleeper", "in memory");
    const pendingBefore = pendingTimers();
    expect(await object.call("add")).toEqual([1, 0, 1]);
    expect(await object.call("add")).toEqual([2, 0, 2]);
    await object.settle();
    expect(pendingTimers()).toBe(pendingBefore);
    expect(await object.keys()).toEqual(["a", "d/idle", "s"]);
    expect(notesOf("in memory")).toEqual(["onWake", "run"]);
    // The first comes too early: the second call was later.
    expect(await object.runAlarms()).toBeLessThanOrEqual(2);
    expect(notesOf("in memory").sort()).toEqual(["onSleep", "run is over"]);
    expect(await object.keys()).toEqual(["a", "s"]);
    expect(await object.alarmAt()).toBe(null);
    expect(pendingTimers()).toBe(pendingBefore);
    expect(await object.call("add"), "vars are new").toEqual([3, 1, 1]);
    expect(notesOf("in memory")).toEqual(["onWake", "run"]);
  });

  it("that the platform has evicted is started only for it", async () => {
    const object = new TestObject("sleeper", "evicted");
    await object.call("add");
    await object.settle();
    await object.evict();
    notesOf("evicted");
    await nextAlarm(object);
    expect(notesOf("evicted")).toEqual(["onWake", "onSleep"]);
    expect(await object.keys()).toEqual(["a", "s"]);
    expect(await object.alarmAt()).toBe(null);
    await object.enqueue("in", 1);
    await object.settle();
    expect(await object.call("add")).toEqual([12, 1, 1]);
  });

  it("that dies in it gets it again, with no call from outside", async () => {
    const object = new TestObject("sleeper", "dies");
    await object.call("add");
    await object.settle();
    deaths = 1;
    expect(await object.runAlarms()).toBeGreaterThan(1);
    expect(notesOf("dies").filter((each) => each === "onSleep")).toHaveLength(2);
    expect(await object.keys()).toEqual(["a", "s"]);
    expect(await object.call("add")).toEqual([2, 1, 1]);
  });

  it("that asks to sleep does so now", async () => {
    const object = new TestObject("sleeper", "asks");
    await object.call("sleep");
    await object.settle();
    expect(notesOf("asks").sort()).toEqual(["onSleep", "onWake", "run", "run is over"]);
    expect(await object.alarmAt()).toBe(null);
  });

  it("with a workflow that sleeps goes on sleeping with it", async () => {
    const object = new TestObject("flow", "sleeps");
    expect(await object.call("status")).toEqual(["running", 0]);
    await object.settle();
    await object.evict();
    await nextAlarm(object);
    expect(await object.call("status")).toEqual(["running", 1]);
    await object.runAlarms();
    expect(await object.call("status")).toEqual(["completed", 3]);
  });
});
