import { describe, expect, it } from "vitest";
import { actor, setup } from "../../src/entry/index.js";
import { workflow } from "../../src/entry/workflow.js";
import { KILLED } from "../support/kill.js";
import { liveObjects, probes, serve } from "../support/worker.js";
import { clock, objectOf, TestObject } from "./test-object.js";
import { pendingTimers } from "./pending-timers.js";

// What keeps an actor alive, what ends one that keeps dying, and that a waiting one costs nothing.

const DAY_MS = 24 * 3_600_000;
/** Calls of user code, by what is called. */
const calls = new Map<string, number>();
const called = (what: string): number => {
  const count = (calls.get(what) ?? 0) + 1;
  calls.set(what, count);
  return count;
};
const die = (context: { readonly name: string; readonly key: string[] }): void =>
  objectOf(context.name, context.key).die();
let release: () => void = () => {};

serve(
  setup({
    use: {
      deadlyStep: actor({
        state: { before: 0 },
        run: workflow(async (ctx) => {
          await ctx.step("before", (step) => {
            step.state.before += 1;
          });
          await ctx.step("deadly", async (step) => {
            called("deadly");
            await scheduler.wait(0);
            die(step);
          });
        }),
        actions: report(),
      }),
      deadlyCode: actor({
        state: {},
        run: workflow(async (ctx) => {
          await ctx.step("fine", () => 1);
          called("code outside of steps");
          await scheduler.wait(0);
          die(ctx);
        }),
        actions: report(),
      }),
      deadlyBranch: actor({
        state: { done: [] as string[] },
        run: workflow(async (ctx) => {
          const innocent = (name: string) => ({
            run: (branch: typeof ctx) =>
              branch.step(name, async (step) => {
                called(name);
                // The guilty one dies while this one runs.
                await scheduler.wait(5);
                step.state.done.push(name);
                return name;
              }),
          });
          return ctx.join("all", {
            first: innocent("first"),
            guilty: {
              run: async (branch) => {
                const result = await branch.tryStep("guilty", async (step) => {
                  called("guilty");
                  await scheduler.wait(1);
                  die(step);
                });
                return result.ok ? "lived" : `${result.failure.kind}: ${result.failure.error.message}`;
              },
            },
            last: innocent("last"),
          });
        }),
        actions: report(),
      }),
      cutOffTwice: actor({
        state: {},
        run: workflow(async (ctx) => {
          return ctx.step({
            name: "no retries",
            maxRetries: 0,
            run: async (step) => {
              await scheduler.wait(0);
              if (called("cut off twice") <= 2) die(step);
              return step.attempt;
            },
          });
        }),
        actions: report(),
      }),
      deadlySchedule: actor({
        state: { other: 0 },
        actions: {
          plan: async (c) => {
            await c.schedule.after(1_000, "deadly");
            await c.schedule.after(2_000_000_000, "other");
          },
          deadly: async (c) => {
            called("scheduled");
            await scheduler.wait(0);
            die(c);
          },
          other: (c) => {
            c.state.other += 1;
          },
          left: async (c) => ({
            other: c.state.other,
            schedules: (await c.schedule.list()).map((each) => each.action),
          }),
        },
      }),
      patient: actor({
        state: { woke: false },
        run: workflow(async (ctx) => {
          await ctx.sleep("forty days", 40 * DAY_MS);
          await ctx.step("woke", (step) => {
            step.state.woke = true;
          });
        }),
        actions: { get: (c) => c.state },
      }),
      endless: actor({
        run: workflow(async (ctx) => {
          await ctx.step({
            name: "works",
            timeout: 0,
            run: () => {
              called("endless");
              return new Promise<void>((resolve) => (release = resolve));
            },
          });
          await ctx.queue.next("any");
        }),
        actions: { get: () => 0 },
      }),
      busy: actor({
        run: workflow(async (ctx) => {
          await ctx.step("holds a timeout", () => new Promise<void>((resolve) => (release = resolve)));
          await ctx.race("waits", [
            { name: "message", run: async (branch) => void (await branch.queue.next("one", { timeout: DAY_MS })) },
            { name: "timer", run: (branch) => branch.sleep("long", DAY_MS) },
          ]);
        }),
        actions: { touch: () => {} },
      }),
      persistent: actor({
        state: {},
        run: workflow(async (ctx) => {
          return ctx.step({
            name: "fails twenty times",
            maxRetries: 20,
            retryBackoffBase: 1_000,
            retryBackoffMax: 1_000,
            run: (step) => {
              called("fails twenty times");
              if (step.attempt <= 20) throw new Error(`attempt ${step.attempt}`);
              return step.attempt;
            },
          });
        }),
        actions: report(),
      }),
      careless: actor({
        state: { n: 0 },
        run: workflow(async (ctx) => {
          await ctx.sleep("pause", DAY_MS);
          await ctx.step("rejects beside its result", async () => {
            void Promise.reject(new Error("nobody awaits this"));
          });
          await ctx.sleep("pause again", DAY_MS);
          throw new Error("the workflow throws");
        }),
        actions: {
          ...report(),
          throws: (c) => {
            c.state.n += 1;
            throw new Error("an action throws");
          },
          rejects: async (c) => {
            c.state.n += 1;
            await scheduler.wait(0);
            throw "not even an error";
          },
          forgets: (c) => {
            c.state.n += 1;
            void Promise.reject(new Error("nobody awaits this"));
            void (async () => {
              await scheduler.wait(0);
              throw new Error("nor this");
            })();
          },
          waits: (c) => {
            c.waitUntil(Promise.reject(new Error("waitUntil")));
            void c.keepAwake(Promise.reject(new Error("keepAwake"))).catch(() => {});
          },
          plan: (c) => c.schedule.after(1_000, "throws"),
          get: (c) => c.state.n,
        },
      }),
    },
  }),
);

function report() {
  return {
    // oxlint-disable-next-line typescript/no-explicit-any -- the same action for actors of any type
    report: (c: any) => ({ status: c.workflow.status(), history: c.workflow.history(), state: c.state }),
  };
}

interface NodeProcess {
  listeners(event: string): ((error: unknown) => void)[];
  removeAllListeners(event: string): void;
  on(event: string, listener: (error: unknown) => void): void;
  off(event: string, listener: (error: unknown) => void): void;
}

/** Takes unhandled rejections from the test runner, which would fail the run; gives their messages, and the runner its listener back. */
interface Unhandled {
  readonly messages: readonly string[];
  end(): void;
}

function collectUnhandled(): Unhandled {
  const { process } = globalThis as unknown as { process: NodeProcess };
  const messages: string[] = [];
  const collect = (error: unknown): void => void messages.push((error as Error).message);
  const runners = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", collect);
  const end = (): void => {
    process.off("unhandledRejection", collect);
    for (const listener of runners) process.on("unhandledRejection", listener);
  };
  return { messages, end };
}

type Report = {
  status: { status: string; output?: unknown; error?: { name: string; message: string; metadata?: unknown } };
  history: { location: string[]; interrupted: number; attempts: number; status: string }[];
};

describe("an object that dies again and again", () => {
  it("ends a step that kills it each time as interrupted, with a growing time between the tries", async () => {
    const object = new TestObject("deadlyStep");
    await object.call("report").catch(() => {});
    const gaps: number[] = [];
    await object.runAlarms(async () => {
      gaps.push(Math.round(((await object.alarmAt()) ?? 0) - clock.now()));
    });
    const { status, history } = (await object.call("report")) as Report;
    expect(status.status).toBe("failed");
    expect(status.error).toMatchObject({ name: "CriticalError" });
    expect(status.error?.message).toContain('Step "deadly" was cut off 10 times');
    expect(history.find((entry) => entry.location[0] === "deadly")).toMatchObject({
      status: "failed",
      interrupted: 10,
      attempts: 1,
    });
    // The first run is not recorded before it starts; the ten after it are.
    expect(calls.get("deadly")).toBe(11);
    const seconds = gaps.map((gap) => Math.ceil(gap / 1_000));
    expect(seconds).toEqual([1, 10, 20, 40, 80, 160, 300, 300, 300, 300, 300]);
    expect(await object.holdsLease()).toBe(false);
    expect(await object.alarmAt()).toBe(null);
  });

  it("ends a workflow whose code outside of steps kills it each time as interrupted", async () => {
    const object = new TestObject("deadlyCode");
    await object.call("report").catch(() => {});
    await object.runAlarms();
    const { status, history } = (await object.call("report")) as Report;
    expect(status.status).toBe("failed");
    expect(status.error?.message).toContain("cut off 10 times in a row outside of any step");
    expect(history).toHaveLength(1);
    expect(calls.get("code outside of steps")).toBe(10);
    expect(await object.alarmAt()).toBe(null);
  });

  it("charges the guilty branch of a join, and none of the others", async () => {
    const object = new TestObject("deadlyBranch");
    await object.call("report").catch(() => {});
    await object.runAlarms();
    const { status, history } = (await object.call("report")) as Report & { state: { done: string[] } };
    expect(status).toMatchObject({ status: "completed", output: { first: "first", last: "last" } });
    expect((status.output as { guilty: string }).guilty).toMatch(/^critical: Step "guilty" was cut off 10 times/);
    const interrupted = Object.fromEntries(
      history.filter((entry) => entry.location.length === 3).map((entry) => [entry.location[2], entry.interrupted]),
    );
    expect(interrupted).toEqual({ first: 0, guilty: 10, last: 0 });
    expect(calls.get("guilty")).toBe(11);
    expect(calls.get("first")).toBeLessThanOrEqual(2);
    expect(calls.get("last")).toBeLessThanOrEqual(2);
  });

  it("uses up no retries of a step that it cut off", async () => {
    const object = new TestObject("cutOffTwice");
    await object.call("report").catch(() => {});
    await object.runAlarms();
    expect(((await object.call("report")) as Report).status).toMatchObject({ status: "completed", output: 1 });
    expect(calls.get("cut off twice")).toBe(3);
  });

  it("drops a scheduled action that kills it each time, and runs the next one", async () => {
    const object = new TestObject("deadlySchedule");
    await object.call("plan");
    await object.runAlarms();
    expect(await object.call("left")).toEqual({ other: 1, schedules: [] });
    // The first time nothing is held against it: who was running is not known.
    expect(calls.get("scheduled")).toBe(11);
  });
});

describe("the platform's alarm", () => {
  it("says for when it was set, however late it comes, also when it comes again after its object died", async () => {
    const object = new TestObject("patient", "told");
    const told: unknown[] = [];
    probes.alarmed = (id, info) => {
      if (id !== object.id.toString() || told.push([info?.scheduledTime, info?.isRetry]) > 1) return;
      object.die();
    };
    // The platform's clock, which is behind that of the objects.
    const at = clock.platformNow() + 500;
    await object.inside((ctx) => ctx.storage.setAlarm(at)).catch(() => {});
    while (told.length < 2) await scheduler.wait(5);
    probes.alarmed = undefined;
    expect(told).toEqual([
      [at, false],
      [at, true],
    ]);
  });

  it("that extends the lease of work brings the work back when its object dies before the next one stands", async () => {
    const object = new TestObject("endless");
    await object.call("get");
    await object.inside(() => {});
    const runs = calls.get("endless") ?? 0;
    expect(runs).toBe(1);
    for (let alarms = 0; alarms < 2; alarms += 1) {
      clock.moveTo((await object.alarmAt()) ?? 0);
      await object.alarm();
    }
    clock.moveTo((await object.alarmAt()) ?? 0);
    probes.alarmed = (id) => {
      if (id !== object.id.toString()) return;
      probes.alarmed = undefined;
      object.die();
    };
    await object.alarm().catch(() => {});
    expect(calls.get("endless")).toBe(1);
    // What the platform does next, or whoever comes before it.
    await object.enqueue("any", 1);
    await object.inside(() => {});
    expect(calls.get("endless")).toBe(2);
    expect(await object.keys()).toContain("l");
    await object.inside(() => release());
    await object.settle();
    expect(await object.keys()).not.toContain("l");
  });

  it("is kept by the platform when its object dies in the turn that sets another, and comes again as a retry", async () => {
    const object = new TestObject("patient", "same turn");
    const told: unknown[] = [];
    probes.alarmed = (id, info) => {
      if (id !== object.id.toString() || told.push([info?.scheduledTime, info?.isRetry]) > 1) return;
      void liveObjects.get(id)?.ctx.storage.setAlarm(clock.platformNow() + DAY_MS);
      object.die();
    };
    const at = clock.platformNow() + 500;
    await object.inside((ctx) => ctx.storage.setAlarm(at)).catch(() => {});
    while (told.length < 2) await scheduler.wait(5);
    probes.alarmed = undefined;
    expect(told).toEqual([
      [at, false],
      [at, true],
    ]);
  });

  it("that its object dies in still shows to a call that comes before it does again", async () => {
    const object = new TestObject("patient", "between");
    let died = false;
    probes.alarmed = (id) => {
      if (id !== object.id.toString() || died) return;
      died = true;
      object.die();
    };
    const at = clock.platformNow() + 500;
    await object.inside((ctx) => ctx.storage.setAlarm(at));
    while (!died) await scheduler.wait(1);
    expect(await object.alarmAt()).toBe(at);
    probes.alarmed = undefined;
  });
});

describe("an actor that waits", () => {
  it("holds no timer and one alarm, 40 days ahead, and wakes on time", async () => {
    const object = new TestObject("patient");
    const before = pendingTimers();
    await object.call("get");
    await object.settle();
    const dueAt = (await object.alarmAt()) ?? 0;
    expect(Math.round((dueAt - clock.now()) / DAY_MS)).toBe(40);
    expect(pendingTimers() - before).toBe(0);
    expect(await object.keys()).toEqual(["a", "e/1", "s"]);
    const { alarms } = await object.writes();
    for (let i = 0; i < 20; i += 1) expect(await object.call("get")).toEqual({ woke: false });
    expect((await object.writes()).alarms).toBe(alarms);
    expect(await object.alarmAt()).toBe(dueAt);
    await object.evict();
    expect(await object.runAlarms()).toBe(1);
    expect(await object.call("get")).toEqual({ woke: true });
  });

  it("holds a timer while a step runs, and none once it is parked in a race of waits", async () => {
    const object = new TestObject("busy");
    const before = pendingTimers();
    await object.call("touch");
    await scheduler.wait(5);
    expect(pendingTimers() - before).toBe(1);
    expect(await object.holdsLease()).toBe(true);
    await object.inside(() => release());
    await object.settle();
    expect(pendingTimers() - before).toBe(0);
    expect(await object.holdsLease()).toBe(false);
    expect(await object.alarmAt()).not.toBe(null);
  });
});

describe("user code that throws", () => {
  it("runs a step that fails twenty times with a second between them twenty-one times", async () => {
    const object = new TestObject("persistent");
    const startedAt = clock.now();
    await object.call("report");
    expect(await object.runAlarms()).toBe(20);
    expect(calls.get("fails twenty times")).toBe(21);
    expect(((await object.call("report")) as Report).status).toMatchObject({ status: "completed", output: 21 });
    expect(clock.now() - startedAt).toBeGreaterThanOrEqual(20_000);
    expect(await object.alarmAt()).toBe(null);
  });

  it("kills neither the object nor its alarm, wherever it throws", async () => {
    const unhandled = collectUnhandled();
    const object = new TestObject("careless");
    await object.call("get");
    await object.settle();
    const dueAt = await object.alarmAt();
    const instance = await object.inside((ctx) => ctx);
    await expect(object.call("throws")).rejects.toMatchObject({ code: "internal_error", statusCode: 500 });
    await expect(object.call("rejects")).rejects.toMatchObject({ code: "internal_error", statusCode: 500 });
    await object.call("forgets");
    await object.call("waits");
    await object.settle();
    // The runtime reports a rejection when it likes.
    while (!unhandled.messages.includes("nor this")) await scheduler.wait(1);
    expect(await object.call("get")).toBe(3);
    expect(await object.inside((ctx) => ctx === instance)).toBe(true);
    expect(await object.alarmAt()).toBe(dueAt);
    await object.call("plan");
    await object.runAlarms();
    expect(await object.call("get")).toBe(4);
    expect(((await object.call("report")) as Report).status).toMatchObject({
      status: "failed",
      error: { message: "the workflow throws" },
    });
    expect(await object.inside((ctx) => ctx === instance)).toBe(true);
    // Only what user code itself left unhandled: nothing of ours.
    unhandled.end();
    const messages = new Set(unhandled.messages);
    expect(messages.delete("nobody awaits this") && messages.delete("nor this")).toBe(true);
    // Of an object of another test.
    messages.delete(KILLED);
    expect([...messages]).toEqual([]);
  });
});
