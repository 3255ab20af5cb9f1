import { abortAllDurableObjects } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { actor, setup } from "../../src/entry/index.js";
import {
  CriticalError,
  Loop,
  workflow,
  type WorkflowContext,
  type WorkflowStepContext,
} from "../../src/entry/workflow.js";
import type { WorkflowHistoryEntry, WorkflowStatus } from "../../src/entry/index.js";
import { serve } from "../support/worker.js";
import { objectOf, TestObject } from "./test-object.js";

// Workloads on the real runtime that lose their object wherever they stand, and then see nothing but alarms.

const HOUR_MS = 3_600_000;
type State = { sum: number; done: Record<string, number> };
// oxlint-disable-next-line typescript/no-explicit-any -- the context of an actor that is defined below
type Context = WorkflowContext<State, any, any, any, any, any, any, any>;
// oxlint-disable-next-line typescript/no-explicit-any -- as above
type Step = WorkflowStepContext<State, any, any, any, any, any, any, any>;

/** Instructions at which an object may die, counted over its lives, and the one at which it does. */
const points = new Map<string, { passed: number; diesAt: number }>();
/** How often each step's callback has begun, by object. */
const runs = new Map<string, Map<string, number>>();

function point(context: { readonly name: string; readonly key: string[] }): void {
  const here = points.get(context.key.join("/"));
  if (!here) return;
  here.passed += 1;
  if (here.passed === here.diesAt) objectOf(context.name, context.key).die();
}

/** A step that can die before, in the middle, and after its change of state, which comes last. */
function work(name: string, amount: number, also: (step: Step) => unknown = () => {}): (step: Step) => Promise<number> {
  return async (step) => {
    const counts = runs.get(step.key.join("/")) ?? new Map<string, number>();
    runs.set(step.key.join("/"), counts.set(name, (counts.get(name) ?? 0) + 1));
    point(step);
    await scheduler.wait(0);
    point(step);
    await also(step);
    step.state.sum += amount;
    step.state.done[name] = (step.state.done[name] ?? 0) + 1;
    point(step);
    return amount;
  };
}

const workloads: Record<string, (ctx: Context) => Promise<unknown>> = {
  async "steps and sleeps"(ctx) {
    let sum = 0;
    for (let i = 1; i <= 2; i += 1) {
      sum += await ctx.step(`add-${i}`, work(`add-${i}`, i));
      point(ctx);
      await ctx.sleep(`pause-${i}`, i * HOUR_MS);
      point(ctx);
    }
    await ctx.sleepUntil("past", 1);
    return sum;
  },

  async retries(ctx) {
    const attempt = await ctx.step({
      name: "flaky",
      maxRetries: 5,
      retryBackoffBase: 60_000,
      run: async (step) => {
        point(step);
        if (step.attempt < 4) throw new Error(`attempt ${step.attempt}`);
        return step.attempt;
      },
    });
    await ctx.step("after", work("after", attempt));
    const caught = await ctx
      .step("stops", (step) => {
        point(step);
        throw new CriticalError("no more");
      })
      .catch((error: Error) => error.message);
    point(ctx);
    await ctx.step({ name: "exhausted", maxRetries: 1, run: () => Promise.reject(new Error("never")) }).catch(() => {});
    await ctx.step("last", work("last", 1));
    return caught;
  },

  async receives(ctx) {
    const send = (step: Step): Promise<void> =>
      (async () => {
        await step.queue.send("in", "first");
        await step.queue.send("in", "second");
        await step.queue.send("other", "third");
      })();
    await ctx.step("send", work("send", 1, send));
    const first = await ctx.queue.next("first", { names: ["in"] });
    point(ctx);
    const rest = await ctx.queue.nextBatch("rest", { count: 5, timeout: HOUR_MS });
    point(ctx);
    const poll = await ctx.queue.nextBatch("poll", { timeout: 0 });
    const empty = await ctx.queue.nextBatch("empty", { timeout: HOUR_MS });
    const late = await ctx.queue.next("late", { timeout: 2 * HOUR_MS }).catch((error: { code: string }) => error.code);
    point(ctx);
    await ctx.step("after", work("after", rest.length));
    return { first: first.body, rest: rest.map((message) => message.body), poll, empty, late };
  },

  loop: (ctx) =>
    ctx.loop({
      name: "rounds",
      state: { round: 0, got: [] as unknown[] },
      historyPruneInterval: 2,
      run: async (round, state) => {
        if (state.round === 3) return Loop.break(state.got);
        await round.step(
          "send",
          work(`send-${state.round}`, 1, (step) => step.queue.send("in", state.round)),
        );
        point(ctx);
        const message = await round.queue.next("take");
        point(ctx);
        await round.sleep("pause", HOUR_MS);
        await round.step("keep", work(`keep-${state.round}`, 10));
        return Loop.continue({ round: state.round + 1, got: [...state.got, message.body] });
      },
    }),

  join: (ctx) =>
    ctx.join("all", {
      quick: { run: (branch) => branch.step("quick", work("quick", 1)) },
      slow: {
        run: async (branch) => {
          await branch.step("before", work("before", 10));
          point(ctx);
          await branch.sleep("pause", HOUR_MS);
          return branch.step("behind", work("behind", 100));
        },
      },
      napping: { run: (branch) => branch.sleep("nap", 2 * HOUR_MS) },
    }),

  async race(ctx) {
    const timer = await ctx.race("timer wins", [
      { name: "timer", run: (branch) => branch.sleep("short", 20) },
      {
        name: "work",
        run: (branch) =>
          branch.step(
            "endless",
            (step) => new Promise<void>((resolve) => step.abortSignal.addEventListener("abort", () => resolve())),
          ),
      },
    ]);
    point(ctx);
    const worker = await ctx.race("work wins", [
      { name: "timer", run: (branch) => branch.sleep("long", 10 * HOUR_MS) },
      { name: "work", run: async (branch) => void (await branch.step("quick", work("quick", 1))) },
    ]);
    point(ctx);
    await ctx.step("after", work("after", 1));
    return [timer.winner, worker.winner];
  },
};

const actions = {
  report: (c: { state: State; workflow: { status(): WorkflowStatus; history(): WorkflowHistoryEntry[] } }) => ({
    state: c.state,
    status: outcome(c.workflow.status()),
    history: c.workflow
      .history()
      .map(canonical)
      .sort((a, b) => JSON.stringify(a.location).localeCompare(JSON.stringify(b.location))),
  }),
  touch: () => {},
};

/** How it ended, not when. */
function outcome({ status, output, error }: WorkflowStatus): WorkflowStatus {
  return { status, output, ...(error && { error }) };
}

/** What a line of history must say whenever it was written: not the order of branches, ids and times of messages, marks of passed waits. */
function canonical({ location, kind, status, value, error }: WorkflowHistoryEntry) {
  if (kind === "sleep" || (kind === "message" && value === undefined)) return { location, kind };
  if (kind !== "message") return { location, kind, status, value, error };
  return {
    location,
    kind,
    messages: (value as { name: string; body: unknown }[]).map(({ name, body }) => [name, body]),
  };
}

const names = Object.keys(workloads);
serve(
  setup({
    use: {
      ...Object.fromEntries(
        names.map((name, index) => [
          `workload${index}`,
          actor({
            state: { sum: 0, done: {} } as State,
            run: workflow(workloads[name] as (ctx: Context) => Promise<unknown>),
            actions,
          }),
        ]),
      ),
      fed: actor({
        state: [] as unknown[],
        run: workflow((ctx) =>
          ctx.loop("forever", async (round) => {
            const message = await round.queue.next("take");
            if (diesTaking.delete(message.body)) objectOf(round.name, round.key).die();
            await round.step("keep", async (step) => {
              await scheduler.wait(10);
              step.state.push(message.body);
            });
          }),
        ),
        actions: { report: (c) => c.state },
      }),
      hanging: actor({
        state: { done: 0 },
        run: workflow(async (ctx) => {
          await ctx.step("hangs once", async (step) => {
            const key = step.key.join("/");
            hung.set(key, (hung.get(key) ?? 0) + 1);
            if (hung.get(key) === 1) await new Promise(() => {});
            step.state.done += 1;
          });
        }),
        actions: { report: (c) => ({ done: c.state.done, status: c.workflow.status().status }), touch: () => {} },
      }),
    },
  }),
);
const hung = new Map<string, number>();
const diesTaking = new Set<unknown>();

/** Starts a workload under a key of its own, and lets only alarms happen until it is over. */
async function run(
  index: number,
  key: string,
  options: { diesAt?: number; parked?: (object: TestObject) => Promise<void> } = {},
) {
  const object = new TestObject(`workload${index}`, key);
  const here = { passed: 0, diesAt: options.diesAt ?? 0 };
  points.set(key, here);
  // The first call may die with the object before it has created the actor; then it is made again, as a client would.
  await object.call("touch").catch(() => object.call("touch"));
  const alarms = await object.runAlarms(async () => options.parked?.(object));
  const report = (await object.call("report")) as { status: { status: string } };
  const keys = (await object.keys()).filter((each) => !each.startsWith("e/"));
  return { report, keys, alarms, points: here.passed, runs: runs.get(key) ?? new Map<string, number>() };
}

describe("survival", () => {
  for (const [index, name] of names.entries()) {
    it(`${name}: ends the same when the object is evicted at every park`, async () => {
      const undisturbed = await run(index, `${name}-alone`);
      expect(undisturbed.report.status.status).toBe("completed");
      expect(undisturbed.keys).toEqual(["a", "s"]);
      let evictions = 0;
      const evicted = await run(index, `${name}-evicted`, {
        parked: async (object) => {
          evictions += 1;
          await object.evict();
        },
      });
      expect(evicted.report).toEqual(undisturbed.report);
      expect(evicted.keys).toEqual(undisturbed.keys);
      expect(evicted.runs).toEqual(undisturbed.runs);
      if (name !== "race") expect(evictions).toBeGreaterThan(1);
    });

    it(`${name}: ends the same when the object is aborted at any one instruction`, async () => {
      const undisturbed = await run(index, `${name}-calm`);
      expect(undisturbed.points).toBeGreaterThan(4);
      for (let diesAt = 1; diesAt <= undisturbed.points; diesAt += 1) {
        const aborted = await run(index, `${name}-dies-at-${diesAt}`, { diesAt });
        expect(aborted.report, `aborted at instruction ${diesAt}`).toEqual(undisturbed.report);
        expect(aborted.keys).toEqual(undisturbed.keys);
        expect(aborted.points, "it did die").toBeGreaterThanOrEqual(diesAt);
        for (const [step, count] of aborted.runs) {
          expect(count, `runs of ${step}, aborted at instruction ${diesAt}`).toBeLessThanOrEqual(
            (undisturbed.runs.get(step) ?? 0) + 1,
          );
        }
      }
    }, 60_000);
  }

  it("a receive takes each acknowledged message once, in order, evicted before one is sent and killed as the next is taken", async () => {
    const object = new TestObject("fed", "fed");
    await object.call("report");
    for (let i = 0; i < 6; i += 2) {
      await object.settle();
      await object.evict();
      await object.enqueue("in", i);
      // The step for the first is still running, so the second is taken in a later turn than the one that stores it.
      diesTaking.add(i + 1);
      await object.enqueue("in", i + 1);
      await object.runAlarms();
    }
    expect(await object.call("report")).toEqual([0, 1, 2, 3, 4, 5]);
    expect(diesTaking.size).toBe(0);
    expect((await object.keys()).filter((key) => key.startsWith("m/"))).toEqual([]);
  });

  it("actors cut off together, in the middle of a step, all come back by their alarms", async () => {
    const all = ["one", "two", "three"].map((key) => new TestObject("hanging", key));
    for (const object of all) await object.call("touch");
    await abortAllDurableObjects();
    for (const object of all) {
      expect(hung.get(object.key.join("/"))).toBe(1);
      await object.alarm();
      await object.settle();
      expect(await object.alarmAt()).toBe(null);
      expect(await object.call("report")).toEqual({ done: 1, status: "completed" });
      expect(hung.get(object.key.join("/"))).toBe(2);
    }
  });
});
