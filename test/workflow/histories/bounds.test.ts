import { describe, expect, it } from "vitest";
import { encodeValue } from "../../../src/protocol/index.js";
import { Loop } from "../../../src/workflow/index.js";
import { begin, type Any, type Golden, type Workload } from "./golden.js";

// A loop's history does not grow, whatever its iterations do (FLOW-19).

const HOUR_MS = 3_600_000;

const everything: Workload = {
  name: "everything in each iteration",
  holds: [],
  config: () => ({
    createState: () => ({ done: 0, told: 0, fired: 0 }),
    onError: (c: Any) => void (c.state.told += 1),
    actions: { fire: (c: Any) => void (c.state.fired += 1) },
  }),
  program: (ctx) =>
    ctx.loop("rounds", async (round: Any) => {
      const message = await round.queue.next("take", { names: ["in"], completable: true });
      await round.queue.nextBatch("no more", { names: ["never"], timeout: 10 });
      const result = await round.tryStep({ name: "fails", maxRetries: 1, run: () => Promise.reject(new Error("no")) });
      await round.race("first", [
        { name: "time", run: (branch: Any) => branch.sleep("short", 10) },
        { name: "message", run: (branch: Any) => branch.queue.next("go", { names: ["never"], timeout: HOUR_MS }) },
        {
          name: "work",
          run: (branch: Any) =>
            branch.step({ name: "fails", retryBackoffBase: HOUR_MS, run: () => Promise.reject(new Error("no")) }),
        },
      ]);
      await round.join("both", {
        one: { run: (branch: Any) => branch.step("one", (step: Any) => step.schedule.after(20, "fire")) },
        two: {
          run: (branch: Any) =>
            branch.loop({
              name: "inner",
              state: 0,
              run: async (turn: Any, n: number) => {
                await turn.try("block", (block: Any) => block.step("in it", () => result.ok));
                return n === 2 ? Loop.break(n) : Loop.continue(n + 1);
              },
            }),
        },
      });
      await round.step("done", (step: Any) => void (step.state.done += 1));
      await message.complete("thanks");
    }),
  begin: async () => {},
  ends: {},
};

async function iterate(golden: Golden, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    await golden.subject.send(
      { mode: "get" },
      { kind: "send", queue: "in", body: encodeValue(i), wait: true, timeoutMs: 1_000 },
    );
    await golden.world.pass(5_000);
  }
}

describe("a loop", () => {
  it("leaves as many keys and entries behind after 160 iterations as after 40, whatever they do", async () => {
    const golden = await begin(everything);
    await iterate(golden, 40);
    const keys = golden.keys.length;
    const entries = golden.entries().length;
    const commits = golden.subject.store.commits;
    await iterate(golden, 40);
    const commitsEach = (golden.subject.store.commits - commits) / 40;
    await iterate(golden, 80);
    expect(await golden.call("get")).toEqual({ done: 160, told: 160 * 3, fired: 160 });
    expect({ keys: golden.keys.length, entries: golden.entries().length }).toEqual({ keys, entries });
    expect((golden.subject.store.commits - commits) / 120).toBeCloseTo(commitsEach, 1);
    expect(golden.keys.filter((key) => /^[dfml]/.test(key))).toEqual([]);
    expect(golden.subject.holdsLease).toBe(false);
    expect(golden.subject.timersHeld).toBe(0);
  });
});
