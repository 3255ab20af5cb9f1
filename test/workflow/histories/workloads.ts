/**
 * The workloads of the golden histories. A program and its outcome never change once a file of it is committed; a new kind of
 * row or entry gets a workload of its own. Every program notes in its state what it saw, replayed or live.
 */
import { decodeValue, encodeValue, UserError } from "../../../src/protocol/index.js";
import { CriticalError, Loop, RollbackError } from "../../../src/workflow/index.js";
import type { ManualClock } from "../../../src/testing/index.js";
import { Golden, type Any, type Workload } from "./golden.js";

const HOUR_MS = 3_600_000;

/** A step that notes a value after its last await. */
const note = (ctx: Any, name: string, value: unknown): Promise<unknown> =>
  ctx.step(name, (step: Any) => void step.state.log.push(value));

const send = (golden: Golden, queue: string, body: unknown, waitMs?: number): Promise<Any> =>
  golden.subject
    .send(
      { mode: "get" },
      {
        kind: "send",
        queue,
        body: encodeValue(body),
        ...(waitMs === undefined ? {} : { wait: true, timeoutMs: waitMs }),
      },
    )
    .then((reply) => {
      if (!reply.ok) throw new Error(reply.error.message);
      return decodeValue(reply.output as Uint8Array);
    });

const waitFor = (golden: Golden, messageId: number, createdAt: number): Promise<Any> =>
  golden.subject.send({ mode: "get" }, { kind: "wait", messageId, createdAt, timeoutMs: 1_000 }).then((reply) => {
    const result = (reply.ok && reply.output && decodeValue(reply.output)) as { status: string; reply?: Uint8Array };
    return [result.status, result.reply && decodeValue(result.reply)];
  });

/** An actor with recurring jobs of both kinds, and how they ended. */
const recurring = (clock: ManualClock): Record<string, unknown> => ({
  createState: () => ({ fired: [] }),
  actions: {
    register: async (c: Any) => {
      await c.cron.set({
        name: "daily",
        expression: "30 7 * * *",
        timezone: "Europe/Berlin",
        action: "fire",
        args: ["daily", new Map([[1, 2n]])],
      });
      await c.cron.every({ name: "often", interval: 6 * HOUR_MS, action: "fire", args: ["often"], maxHistory: 30 });
      await c.cron.every({ name: "broken", interval: 24 * HOUR_MS, action: "fail", maxHistory: 1_000 });
    },
    registerLong: (c: Any) => c.cron.every({ name: "long", interval: 24 * HOUR_MS, action: "long" }),
    end: async (c: Any) => {
      for (const { name } of await c.cron.list()) await c.cron.delete(name);
    },
    jobs: async (c: Any) =>
      (await c.cron.list()).map(({ args, ...job }: Any) => [
        job.name,
        args,
        new Date(job.nextRunAt).toISOString(),
        job.expression ?? job.interval,
      ]),
    runs: async (c: Any, name: string, limit: number) =>
      (await c.cron.history(name, { limit })).map(({ result, scheduledAt, error }: Any) => [
        new Date(scheduledAt).toISOString(),
        result,
        ...(error ? [error.group, error.code, error.metadata] : []),
      ]),
    fire: (c: Any, name: string) => void c.state.fired.push(name),
    fail: () => {
      throw new UserError("no", { code: "no", metadata: { why: "golden" } });
    },
    long: async (c: Any) => {
      await clock.delay(10_000);
      c.state.fired.push("long");
    },
  },
});

/** Waits with or without a gate before them. */
const ordered = async (ctx: Any, gate: boolean): Promise<void> => {
  await note(ctx, "first", "first");
  if (gate) await ctx.getVersion("gate", 2);
  await ctx.sleep("nap", 5 * 24 * HOUR_MS);
  await note(ctx, "second", "second");
  await ctx.sleep("later", HOUR_MS);
  await note(ctx, "third", "third");
};

/** A workload without extras. */
const done = { status: "completed", failure: undefined, queued: [], left: [], alarmAt: null };

/** Values of every kind that the codec supports. */
const values = (): Record<string, unknown> => ({
  map: new Map<unknown, unknown>([
    ["a", new Set([1, 2n])],
    [{ key: "object" }, undefined],
  ]),
  date: new Date(1_600_000_000_123),
  expression: /a+b/giu,
  big: 12_345_678_901_234_567_890n,
  numbers: [NaN, Infinity, -Infinity, -0, 1.5, 2 ** 53],
  bytes: new Uint8Array([0, 1, 255]),
  floats: new Float64Array([0.1, -0]),
  buffer: new Uint8Array([1, 2]).buffer,
  error: new TypeError("kept", { cause: new Error("cause") }),
  holes: { nothing: undefined, null: null, empty: "", half: "\ud800", ["__proto__x"]: 1 },
});

export const workloads: readonly Workload[] = [
  {
    name: "steps-and-sleep",
    holds: ["step first completed", "step second/with a slash completed", "sleep pause pending"],
    program: async (ctx) => {
      const first = await ctx.step("first", (step: Any) => {
        step.state.log.push("first");
        return values();
      });
      const nothing = await ctx.step({ name: "second/with a slash", ephemeral: true, run: () => undefined });
      await ctx.sleep("pause", HOUR_MS);
      await note(ctx, "~3", [Object.keys(first).length, first.map.get("a").has(2n), first.date.getTime(), nothing]);
      await ctx.sleepUntil("past", new Date(1));
      return "slept";
    },
    begin: async (golden) => golden.world.pass(1_000),
    ends: { ...done, output: "slept", state: { log: ["first", [10, true, 1_600_000_000_123, undefined]] } },
  },
  {
    name: "retry-in-backoff",
    holds: ["step flaky pending, attempts 2, due"],
    program: async (ctx) => {
      const attempt = await ctx.step({
        name: "flaky",
        maxRetries: 5,
        retryBackoffBase: 60_000,
        retryBackoffMax: HOUR_MS,
        run: async (step: Any) => {
          step.state.log.push(`attempt ${step.attempt}`);
          if (step.attempt < 4)
            throw Object.assign(new Error("again"), { code: "flaky", metadata: { at: step.attempt } });
          return step.attempt;
        },
      });
      return note(ctx, "after", attempt).then(() => attempt);
    },
    begin: async (golden) => golden.world.pass(150_000),
    ends: { ...done, output: 4, state: { log: ["attempt 1", "attempt 2", "attempt 3", "attempt 4", 4] } },
  },
  {
    name: "loop-pruned",
    holds: [
      "loop rounds pending",
      "loop rounds/0/inner completed",
      "loop rounds/3/inner pending",
      "sleep rounds/3/inner/2/rest pending, due",
    ],
    program: (ctx) =>
      ctx.loop({
        name: "rounds",
        state: { seen: new Map<number, string>() },
        historyPruneInterval: 3,
        run: async (round: Any, { seen }: { seen: Map<number, string> }) => {
          const n = seen.size;
          const inner = await round.loop({
            name: "inner",
            state: 0,
            historyPruneInterval: 2,
            run: async (turn: Any, i: number) => {
              await note(turn, "turn", `${n}.${i}`);
              await turn.sleep("rest", 1_000);
              return i === 4 ? Loop.break(`inner ${n}`) : Loop.continue(i + 1);
            },
          });
          seen.set(n, inner);
          return n === 4 ? Loop.break(seen) : Loop.continue({ seen });
        },
      }),
    // In the third turn of the fourth round.
    begin: async (golden) => golden.world.pass(3 * 5_000 + 2_500),
    ends: {
      ...done,
      output: new Map([0, 1, 2, 3, 4].map((n) => [n, `inner ${n}`])),
      state: { log: [0, 1, 2, 3, 4].flatMap((n) => [0, 1, 2, 3, 4].map((i) => `${n}.${i}`)) },
    },
  },
  {
    name: "loop-overwritten",
    holds: [
      "loop rounds pending",
      "step rounds/4/turn completed",
      "step rounds/6/turn completed",
      "sleep rounds/6/rest pending, due",
    ],
    program: (ctx) =>
      ctx.loop({
        name: "rounds",
        state: 0,
        historyPruneInterval: 2,
        run: async (round: Any, n: number) => {
          await note(round, "turn", `${n}`);
          await round.sleep("rest", 1_000);
          return n === 8 ? Loop.break(n) : Loop.continue(n + 1);
        },
      }),
    // In the seventh round, whose entries stand in rows of the third.
    begin: async (golden) => golden.world.pass(6_500),
    ends: {
      ...done,
      output: 8,
      state: { log: ["0", "1", "2", "3", "4", "5", "6", "7", "8"] },
    },
  },
  {
    name: "join-one-branch-done",
    holds: ["join all pending", "step all/done/quick completed", "sleep all/asleep/pause pending, due"],
    program: async (ctx) => {
      const {
        done: one,
        asleep,
        message,
      } = await ctx.join("all", {
        done: { run: (branch: Any) => branch.step("quick", () => ({ at: 1n })) },
        asleep: {
          run: async (branch: Any) => {
            await note(branch, "before", "before");
            await branch.sleep("pause", HOUR_MS);
            await note(branch, "behind", "behind");
          },
        },
        message: { run: (branch: Any) => branch.queue.nextBatch("wait", { names: ["never"], timeout: 2 * HOUR_MS }) },
        nothing: { run: async () => {} },
      });
      return [one, asleep, message];
    },
    begin: async (golden) => golden.world.pass(1_000),
    ends: { ...done, output: [{ at: 1n }, undefined, []], state: { log: ["before", "behind"] } },
  },
  {
    name: "branch-results",
    holds: ["join ended completed", "join open pending", "branch_results"],
    program: async (ctx) => {
      const ended = await ctx.join("ended", {
        one: { run: (branch: Any) => branch.step("quick", () => ({ at: 1n })) },
        nothing: { run: async () => {} },
        later: {
          run: async (branch: Any) => (await branch.sleep("pause", 1_000), branch.step("quick", () => "later")),
        },
      });
      const open = await ctx
        .join("open", {
          one: { run: (branch: Any) => branch.step("quick", () => new Map([[1, 2]])) },
          failed: {
            run: async () => {
              throw new UserError("no", { code: "not_today" });
            },
          },
          asleep: {
            run: async (branch: Any) => (
              await branch.sleep("pause", HOUR_MS),
              await note(branch, "behind", "behind"),
              3
            ),
          },
        })
        .catch((error: Any) => [Object.keys(error.errors), error.errors.failed.code]);
      return [ended, open];
    },
    begin: async (golden) => golden.world.pass(5_000),
    ends: {
      ...done,
      output: [{ one: { at: 1n }, nothing: undefined, later: "later" }, [["failed"], "not_today"]],
      state: { log: ["behind"] },
    },
  },
  {
    name: "race-undecided",
    holds: [
      "race first pending",
      "step first/rejected/no failed",
      "step first/retries/slow pending",
      "sleep first/time/again pending",
    ],
    program: async (ctx) => {
      const { winner, value } = await ctx.race("first", [
        {
          name: "rejected",
          run: (branch: Any) => branch.step({ name: "no", maxRetries: 0, run: () => Promise.reject(new Error("no")) }),
        },
        { name: "message", run: (branch: Any) => branch.queue.next("go", { names: ["go"], completable: true }) },
        {
          name: "retries",
          run: (branch: Any) =>
            branch.step({
              name: "slow",
              retryBackoffBase: 4 * HOUR_MS,
              retryBackoffMax: 5 * HOUR_MS,
              run: () => Promise.reject(new Error("later")),
            }),
        },
        {
          name: "time",
          run: async (branch: Any) => {
            await branch.sleep("short", HOUR_MS);
            await branch.sleep("again", HOUR_MS);
            return "in time";
          },
        },
      ]);
      await note(ctx, "after", [winner, value]);
      return winner;
    },
    begin: async (golden) => golden.world.pass(HOUR_MS + 1_000),
    ends: { ...done, output: "time", state: { log: [["time", "in time"]] } },
  },
  {
    name: "race-decided",
    holds: [
      "race timer wins completed",
      "race message wins completed",
      "message message wins/message/go completed",
      "race nobody failed",
      "sleep pause pending",
    ],
    program: async (ctx) => {
      const first = await ctx.race("timer wins", [
        { name: "time", run: (branch: Any) => branch.sleep("short", 500) },
        { name: "message", run: (branch: Any) => branch.queue.next("go") },
      ]);
      const second = await ctx.race("message wins", [
        { name: "time", run: (branch: Any) => branch.sleep("long", 10 * HOUR_MS) },
        { name: "message", run: async (branch: Any) => (await branch.queue.next("go", { names: ["go"] })).body },
      ]);
      const none = await ctx
        .race("nobody", [{ name: "only", run: () => Promise.reject(new TypeError("no")) }])
        .catch((error: Any) => [error.name, error.errors[0].error.message]);
      await ctx.sleep("pause", HOUR_MS);
      await note(ctx, "after", [first, second, none]);
    },
    begin: async (golden) => {
      await golden.world.pass(600);
      await send(golden, "other", "left");
      await send(golden, "go", ["went"]);
      await golden.world.pass(1_000);
    },
    ends: {
      ...done,
      output: undefined,
      state: {
        log: [[{ winner: "time", value: undefined }, { winner: "message", value: ["went"] }, ["RaceError", "no"]]],
      },
      queued: [["other", "left"]],
    },
  },
  {
    name: "receive-with-timeout",
    holds: [
      "message drain completed",
      "message drain/1 completed",
      "message drain/2 pending",
      "message late pending, due",
      "m/2",
    ],
    program: async (ctx) => {
      const got: unknown[] = [];
      // The bounded drain: one name, several receives.
      for (let i = 0; i < 3; i += 1) {
        const message = await ctx.queue
          .next("drain", { names: ["a", "b"], timeout: 1_000 })
          .catch((error: Any) => ({ body: error.code }));
        got.push(message.body);
      }
      const late = await ctx.queue.next("late", { names: ["b"], timeout: HOUR_MS });
      await note(ctx, "after", [...got, late.body, typeof late.id]);
      return await ctx.queue
        .nextBatch("rest", { count: 10, timeout: 0 })
        .then((rest: Any[]) => rest.map((each) => each.name));
    },
    begin: async (golden) => {
      await send(golden, "a", { n: 1 });
      await send(golden, "unheard", new Map([["x", 1]]));
      await send(golden, "b", 2n);
      await golden.world.pass(10_000);
    },
    finish: async (golden) => {
      const { createdAt } = await send(golden, "b", "late");
      return createdAt === golden.clock.now();
    },
    ends: {
      ...done,
      output: ["unheard"],
      state: { log: [[{ n: 1 }, 2n, "timed_out", "late", "bigint"]] },
      answer: true,
    },
  },
  {
    name: "held-message",
    holds: ["message job completed", "message more completed", "m/2", "m/3", "m/4"],
    program: async (ctx) => {
      const message = await ctx.queue.next("job", { names: ["jobs"], completable: true });
      const batch = await ctx.queue.nextBatch("more", { names: ["more"], completable: true, count: 5 });
      await batch[0].complete();
      await ctx.sleep("pause", HOUR_MS);
      await message.complete({ done: message.body });
      for (const each of batch.slice(1)) await each.complete();
      await note(ctx, "after", [message.body, ...batch.map((each: Any) => each.body)]);
    },
    begin: async (golden) => {
      for (const body of ["x", "y", "z"]) await send(golden, "more", body);
      await send(golden, "jobs", "first", 3 * HOUR_MS);
      await send(golden, "jobs", "second");
      await golden.world.pass(2_000);
    },
    finish: async (golden) => {
      await golden.world.pass(HOUR_MS);
      return waitFor(golden, 4, 1_700_000_000_000);
    },
    ends: {
      ...done,
      output: undefined,
      state: { log: [["first", "x", "y", "z"]] },
      queued: [["jobs", "second"]],
      answer: ["completed", { done: "first" }],
    },
  },
  {
    name: "kept-reply",
    holds: ["d/reply/1", "d/reply/2"],
    program: async (ctx) => {
      for (let i = 0; i < 2; i += 1) {
        const message = await ctx.queue.next("job", { completable: true });
        await message.complete(message.body === "silent" ? undefined : new Set([message.body]));
      }
      return "both";
    },
    begin: async (golden) => {
      await send(golden, "jobs", "loud", 2 * HOUR_MS);
      await send(golden, "jobs", "silent", HOUR_MS);
      await golden.world.pass(2_000);
    },
    finish: async (golden) => [
      await waitFor(golden, 1, 1_700_000_000_000),
      await waitFor(golden, 2, 1_700_000_000_000),
    ],
    ends: {
      ...done,
      output: "both",
      state: { log: [] },
      answer: [
        ["completed", new Set(["loud"])],
        ["completed", undefined],
      ],
    },
  },
  {
    name: "schedule",
    holds: ["d/at/"],
    config: () => ({
      createState: () => ({ fired: [] }),
      actions: {
        plan: async (c: Any) => {
          await c.schedule.after(2 * HOUR_MS, "fire", "second", new Map([[1, 2n]]));
          await c.schedule.at(1_700_000_000_000 + HOUR_MS, "fire", "first");
          await c.schedule.after(3 * HOUR_MS, "fail");
        },
        planned: async (c: Any) => (await c.schedule.list()).map((each: Any) => each.action),
        fire: (c: Any, ...args: unknown[]) => void c.state.fired.push(args),
        fail: (c: Any) => {
          c.state.fired.push("failed");
          throw new Error("no");
        },
      },
    }),
    begin: async (golden) => void (await golden.call("plan")),
    finish: (golden) => golden.call("planned"),
    ends: {
      ...done,
      status: undefined,
      output: undefined,
      answer: ["fire", "fire", "fail"],
      state: {
        fired: [
          [
            "first",
            {
              kind: "at",
              id: "00000000000000000000000000000003",
              scheduledAt: 1_700_003_600_000,
              firedAt: 1_700_003_600_000,
            },
          ],
          [
            "second",
            new Map([[1, 2n]]),
            {
              kind: "at",
              id: "00000000000000000000000000000002",
              scheduledAt: 1_700_007_200_000,
              firedAt: 1_700_007_200_000,
            },
          ],
          "failed",
        ],
      },
    },
  },
  {
    name: "recurring-jobs",
    holds: ["d/cron/broken", "d/cron/daily", "d/cron/often", "h/0/broken", "h/0/often", "h/1/often"],
    config: (clock) => recurring(clock),
    begin: async (golden) => {
      await golden.call("register");
      await golden.world.pass(23 * 6 * HOUR_MS);
    },
    finish: async (golden) => {
      const before = await golden.call("jobs");
      await golden.world.pass(2 * 24 * HOUR_MS);
      const answer = {
        before,
        often: await golden.call("runs", "often", 2),
        kept: (await golden.call("runs", "often", 1_000)).length,
        broken: await golden.call("runs", "broken", 1),
        daily: await golden.call("runs", "daily", 2),
      };
      await golden.call("end");
      return answer;
    },
    ends: {
      ...done,
      status: undefined,
      output: undefined,
      state: { fired: Array.from({ length: 39 }, (_, index) => (index % 5 === 1 ? "daily" : "often")) },
      answer: {
        before: [
          ["broken", [], "2023-11-20T22:13:20.000Z", 24 * HOUR_MS],
          ["often", ["often"], "2023-11-20T22:13:20.000Z", 6 * HOUR_MS],
          ["daily", ["daily", new Map([[1, 2n]])], "2023-11-21T06:30:00.000Z", "30 7 * * *"],
        ],
        often: [
          ["2023-11-22T16:13:20.000Z", "ok"],
          ["2023-11-22T10:13:20.000Z", "ok"],
        ],
        kept: 30,
        broken: [["2023-11-21T22:13:20.000Z", "error", "user", "no", { why: "golden" }]],
        daily: [
          ["2023-11-22T06:30:00.000Z", "ok"],
          ["2023-11-21T06:30:00.000Z", "ok"],
        ],
      },
    },
  },
  {
    name: "recurring-job-cut-off",
    holds: ["d/cron/long", "h/0/long", "l"],
    isCutOff: true,
    config: (clock) => recurring(clock),
    begin: async (golden) => {
      await golden.call("registerLong");
      await golden.world.pass(48 * HOUR_MS + 5_000);
    },
    finish: async (golden) => {
      await golden.world.pass(24 * HOUR_MS + 30_000);
      const answer = await golden.call("runs", "long", 5);
      await golden.call("end");
      return answer;
    },
    ends: {
      ...done,
      status: undefined,
      output: undefined,
      state: { fired: ["long", "long"] },
      answer: [
        ["2023-11-17T22:13:20.000Z", "ok"],
        ["2023-11-16T22:13:20.000Z", "error", "schedule", "interrupted", undefined],
        ["2023-11-15T22:13:20.000Z", "ok"],
      ],
    },
  },
  {
    name: "rolling-back",
    holds: ["step fatal failed", "step -1/", "pending, attempts 2, due"],
    program: async (ctx) => {
      await ctx.rollbackCheckpoint("from here");
      const undoable = (name: string, failures = 0): object => ({
        name,
        retryBackoffBase: HOUR_MS,
        retryBackoffMax: 20 * HOUR_MS,
        run: async (step: Any) => {
          step.state.log.push(name);
          return { name };
        },
        rollback: async (step: Any, output: { name: string }) => {
          if (step.attempt <= failures) throw new Error(`attempt ${step.attempt}`);
          step.state.log.push(`undo ${output.name}`);
        },
      });
      await ctx.step(undoable("a"));
      await ctx.join("in parallel", {
        one: { run: (branch: Any) => branch.step(undoable("b", 2)) },
        two: { run: (branch: Any) => branch.sleep("nap", 10) },
      });
      await ctx.try("inside", (block: Any) => block.step(undoable("c")));
      await ctx.step(undoable("never", 9));
      await ctx.step("fatal", () => {
        throw new CriticalError("undo all of it", { metadata: { why: "golden" } });
      });
    },
    // "never" has failed for good, "c" is undone, "b" waits for its third attempt.
    begin: async (golden) => golden.world.pass(17 * HOUR_MS),
    ends: {
      ...done,
      status: "failed",
      output: undefined,
      failure: {
        kind: "critical",
        error: {
          name: "CriticalError",
          message: "undo all of it",
          group: "workflow",
          code: "critical",
          metadata: { why: "golden" },
        },
      },
      rollbackErrors: [{ stepName: "never", error: { name: "Error", message: "attempt 4" } }],
      state: { log: ["a", "b", "c", "never", "undo c", "undo b", "undo a"] },
    },
  },
  {
    name: "completed",
    holds: ["completed"],
    program: async (ctx) => {
      await note(ctx, "only", 1);
      return values();
    },
    begin: async (golden) => {
      await golden.world.pass(1_000);
      await send(golden, "late", "nobody reads this");
    },
    ends: { ...done, output: values(), state: { log: [1] }, queued: [["late", "nobody reads this"]] },
  },
  {
    name: "failed-with-a-join-error",
    holds: ["join all failed"],
    program: async (ctx) => {
      await ctx.join("all", {
        good: { run: (branch: Any) => branch.step("good", () => 1) },
        exhausted: {
          run: (branch: Any) =>
            branch.step({ name: "bad", maxRetries: 0, run: () => Promise.reject(new RangeError("out of range")) }),
        },
        nested: {
          run: (branch: Any) => branch.race("none", [{ name: "one", run: () => Promise.reject(new Error("lost")) }]),
        },
      });
    },
    begin: async (golden) => golden.world.pass(1_000),
    finish: async (golden) => {
      const { status, error } = await golden.call("status");
      return [status, error.name, error.message];
    },
    ends: {
      ...done,
      status: "failed",
      output: undefined,
      state: { log: [] },
      answer: ["failed", "JoinError", "Join failed: exhausted, nested"],
      failure: {
        kind: "join",
        error: {
          name: "JoinError",
          message: "Join failed: exhausted, nested",
          group: "workflow",
          code: "join_failed",
          metadata: {
            failures: [
              {
                name: "exhausted",
                failure: {
                  kind: "exhausted",
                  error: {
                    name: "StepExhaustedError",
                    message: 'Step "bad" exhausted retries: RangeError: out of range',
                    group: "workflow",
                    code: "step_exhausted",
                    metadata: { stepName: "bad" },
                    cause: { name: "RangeError", message: "out of range" },
                  },
                },
              },
              {
                name: "nested",
                failure: {
                  kind: "race",
                  error: {
                    name: "RaceError",
                    message: "All branches failed",
                    group: "workflow",
                    code: "race_failed",
                    metadata: {
                      failures: [
                        { name: "one", failure: { kind: "error", error: { name: "Error", message: "lost" } } },
                      ],
                    },
                  },
                },
              },
            ],
          },
        },
      },
    },
  },
  {
    name: "diverged",
    holds: ["d/workflow"],
    program: async (ctx) => {
      await note(ctx, "first", "first");
      await ctx.sleep("pause", HOUR_MS);
      await note(ctx, "second", "second");
    },
    begin: async (golden) => {
      await golden.world.pass(1_000);
      // A deploy without the first step: noticed when the sleep ends, and checked again after one and two more minutes.
      const broken = golden.deploy(async (ctx) => {
        await ctx.sleep("pause", HOUR_MS);
      });
      await broken.world.pass(HOUR_MS + 90_000);
      return broken;
    },
    ends: { ...done, output: undefined, state: { log: ["first", "second"] } },
  },
  {
    // Written by a release that gave gates a place in the order: only the gate shows that the wait before it has ended.
    name: "gate-behind-a-timed-out-receive",
    holds: ["message wait pending, due", "version_check gate completed"],
    // Opening it must mark the wait.
    isCutOff: true,
    program: async (ctx) => {
      await note(ctx, "first", "first");
      const batch = await ctx.queue.nextBatch("wait", { names: ["m"], timeout: HOUR_MS });
      const version = await ctx.getVersion("gate", 2);
      const { body } = await ctx.queue.next("end", { names: ["end"] });
      await note(ctx, "last", `${batch.length} ${version} ${body}`);
    },
    begin: (golden) => golden.world.pass(2 * HOUR_MS),
    finish: async (golden) => {
      await send(golden, "m", "too late");
      await send(golden, "end", "end");
    },
    ends: { ...done, output: undefined, state: { log: ["first", "0 2 end"] }, queued: [["m", "too late"]] },
  },
  {
    // The same release took a gate deployed before a wait for the end of the wait: the wait stays ended.
    name: "wait-ended-by-a-gate",
    holds: ["sleep nap pending, due", "version_check gate completed", "step second completed"],
    program: (ctx) => ordered(ctx, true),
    begin: async (golden) => {
      const first = new Golden(golden.workload, (ctx) => ordered(ctx, false), { clock: golden.clock });
      await first.call("get");
      await first.world.pass(24 * HOUR_MS);
      const next = first.deploy();
      await send(next, "nobody reads this", 1);
      await next.world.pass(1_000);
      return next;
    },
    ends: {
      ...done,
      output: undefined,
      state: { log: ["first", "second", "third"] },
      queued: [["nobody reads this", 1]],
    },
  },
  {
    name: "on-error-due",
    holds: ["f/", "l"],
    isCutOff: true,
    config: (clock) => ({
      onError: async (c: Any, event: Any) => {
        await clock.delay(1_000);
        const [[kind, { stepName, attempt, willRetry, error }]] = Object.entries(event) as Any;
        c.state.log.push([kind, stepName, attempt, willRetry, error.message]);
      },
    }),
    program: async (ctx) => {
      await ctx
        .step({
          name: "bad",
          maxRetries: 1,
          run: (step: Any) => {
            const error = new Error(`attempt ${step.attempt}`);
            // Like everything here, the same on every machine.
            error.stack = "Error\n    at golden";
            throw error;
          },
        })
        .catch(() => {});
      await ctx.sleep("pause", HOUR_MS);
      return "after all";
    },
    // The hook was called for the first attempt, and is running for the second.
    begin: async (golden) => golden.world.pass(1_500),
    ends: {
      ...done,
      output: "after all",
      state: {
        log: [
          ["step", "bad", 1, true, "attempt 1"],
          ["step", "bad", 2, false, "attempt 2"],
        ],
      },
    },
  },
  {
    name: "cut-off-twice",
    holds: ["step long running, interrupted 1", "l"],
    isCutOff: true,
    program: async (ctx, clock) => {
      await note(ctx, "before", "before");
      await ctx.step("long", async (step: Any) => {
        await clock.delay(25_000);
        step.state.log.push("long");
      });
    },
    // A boot found the lease and recorded the attempt it guards as running.
    begin: async (golden) => {
      for (let i = 0; i < 2; i += 1) {
        await golden.world.pass(5_000);
        golden.subject.crash();
        await golden.world.pass(5_000);
      }
      await golden.world.pass(5_000);
    },
    finish: async (golden) => {
      await golden.world.passUntilQuiet();
      return (await golden.call("history")).map((entry: Any) => [entry.location[0], entry.attempts, entry.interrupted]);
    },
    ends: {
      ...done,
      output: undefined,
      state: { log: ["before", "long"] },
      answer: [
        ["before", 1, 0],
        ["long", 1, 0],
      ],
    },
  },
  {
    // The three above date from when a lease was a row from its start; now it becomes one once a boot has found it.
    name: "cut-off-once",
    holds: ["step before completed"],
    isCutOff: true,
    program: async (ctx, clock) => {
      await note(ctx, "before", "before");
      await ctx.step("long", async (step: Any) => {
        await clock.delay(25_000);
        step.state.log.push("long");
      });
    },
    // In the middle of the step, of which nothing is stored: only the alarm shows that something ran.
    begin: async (golden) => golden.world.pass(5_000),
    ends: { ...done, output: undefined, state: { log: ["before", "long"] } },
  },
  {
    name: "failures-caught",
    holds: [
      "step timeout failed",
      "step block/inside failed",
      "version_check gate completed",
      "removed gone completed",
    ],
    program: async (ctx) => {
      const describe = (error: Any): unknown[] => [
        error.name,
        error.code,
        error.message,
        error.metadata,
        error.cause?.message,
      ];
      const caught: unknown[] = [];
      const bad = (name: string, options: object, run: (step: Any) => unknown): Promise<void> =>
        ctx.step({ name, maxRetries: 0, ...options, run }).catch((error: Any) => void caught.push(describe(error)));
      await bad("exhausted", { maxRetries: 1, retryBackoffBase: 10 }, () =>
        Promise.reject(Object.assign(new RangeError("again"), { code: 7 })),
      );
      await bad("critical", {}, () =>
        Promise.reject(new CriticalError("no", { cause: new Error("why"), metadata: { n: 1n } })),
      );
      await bad("timeout", { timeout: 50 }, () => new Promise(() => {}));
      await bad("out of time", { timeout: 50, retryOnTimeout: true }, () => new Promise(() => {}));
      await bad("rollback", {}, () => Promise.reject(new RollbackError("undo")));
      await bad("a text", {}, () => Promise.reject("only a text"));
      const tried = await ctx.tryStep({ name: "tried", maxRetries: 0, run: () => Promise.reject(new Error("tried")) });
      const block = await ctx.try("block", (inner: Any) =>
        inner.step({ name: "inside", maxRetries: 0, run: () => Promise.reject(new Error("inside")) }),
      );
      const version = await ctx.getVersion("gate", 3);
      await ctx.removed("gone", "step");
      await ctx.sleep("pause", HOUR_MS);
      await note(ctx, "after", [caught, tried, block, version]);
    },
    begin: async (golden) => golden.world.pass(10_000),
    ends: {
      ...done,
      output: undefined,
      state: {
        log: [
          [
            [
              [
                "StepExhaustedError",
                "step_exhausted",
                'Step "exhausted" exhausted retries: RangeError: again',
                undefined,
                "again",
              ],
              ["CriticalError", "critical", "no", { n: 1n }, "why"],
              ["CriticalError", "critical", 'Step "timeout" timed out after 50ms', undefined, undefined],
              [
                "StepExhaustedError",
                "step_exhausted",
                'Step "out of time" exhausted retries: StepTimeoutError: Step "out of time" timed out after 50ms',
                undefined,
                'Step "out of time" timed out after 50ms',
              ],
              ["RollbackError", "rollback", "undo", undefined, undefined],
              [
                "StepExhaustedError",
                "step_exhausted",
                'Step "a text" exhausted retries: Error: only a text',
                undefined,
                "only a text",
              ],
            ],
            {
              ok: false,
              failure: {
                kind: "exhausted",
                stepName: "tried",
                attempts: 1,
                error: { name: "Error", message: "tried" },
              },
            },
            {
              ok: false,
              failure: {
                source: "step",
                name: "inside",
                error: {
                  name: "StepExhaustedError",
                  message: 'Step "inside" exhausted retries: Error: inside',
                  metadata: { group: "workflow", code: "step_exhausted" },
                },
                step: {
                  kind: "exhausted",
                  stepName: "inside",
                  attempts: 1,
                  error: { name: "Error", message: "inside" },
                },
              },
            },
            3,
          ],
        ],
      },
    },
  },
  {
    name: "cancelled",
    holds: ["sleep pause pending"],
    config: () => ({
      actions: { cancel: (c: Any) => c.workflow.cancel(), take: async (c: Any) => (await c.queue.tryNext())?.body },
    }),
    program: async (ctx) => {
      await ctx.queue.next("held", { completable: true });
      await ctx.sleep("pause", HOUR_MS);
    },
    begin: async (golden) => {
      await send(golden, "jobs", "held, then free");
      await golden.world.pass(1_000);
      await golden.call("cancel");
    },
    finish: (golden) => golden.call("take"),
    ends: { ...done, status: "cancelled", output: undefined, state: { log: [] }, answer: "held, then free" },
  },
  {
    name: "values-and-queue",
    holds: ["m/1", "m/2", "m/3"],
    config: () => ({
      createState: () => ({ values: values(), map: new Map([["list", [1, 2, 3]]]) }),
      actions: {
        change: (c: Any) => void c.state.map.get("list").push(4),
        take: async (c: Any) =>
          (await c.queue.tryNextBatch({ count: 10, names: ["q"] })).map((each: Any) => [each.id, each.body]),
      },
    }),
    begin: async (golden) => {
      await send(golden, "other", "stays");
      await send(golden, "q", values());
      await send(golden, "q", undefined);
    },
    finish: async (golden) => {
      await golden.call("change");
      return golden.call("take");
    },
    ends: {
      ...done,
      status: undefined,
      output: undefined,
      state: { values: values(), map: new Map([["list", [1, 2, 3, 4]]]) },
      queued: [["other", "stays"]],
      answer: [
        [2, values()],
        [3, undefined],
      ],
    },
  },
  {
    name: "values-by-key",
    // The user's keys in hex: k/1, k/2, and one that is not a string.
    holds: ["u/6b2f31", "u/6b2f32", "u/ff00", "sleep pause pending, due"],
    config: () => ({
      actions: {
        fill: (c: Any) =>
          c.kv.batchPut([
            ["k/1", "one"],
            ["k/2", Uint8Array.of(0, 255)],
            [Uint8Array.of(255, 0), ""],
          ]),
        change: async (c: Any) => {
          await c.kv.put("k/3", "three");
          await c.kv.delete("k/1");
          return [await c.kv.list("", { type: "binary", keyType: "binary" }), await c.kv.get("k/3")];
        },
      },
    }),
    program: async (ctx) => {
      await ctx.sleep("pause", HOUR_MS);
      await note(ctx, "after", "slept");
    },
    begin: async (golden) => {
      await golden.call("fill");
      await golden.world.pass(1_000);
    },
    finish: (golden) => golden.call("change"),
    ends: {
      ...done,
      output: undefined,
      state: { log: ["slept"] },
      answer: [
        [
          [Uint8Array.of(0x6b, 0x2f, 0x32), Uint8Array.of(0, 255)],
          [Uint8Array.of(0x6b, 0x2f, 0x33), new TextEncoder().encode("three")],
          [Uint8Array.of(255, 0), new Uint8Array()],
        ],
        "three",
      ],
    },
  },
  {
    name: "times",
    holds: [
      "step flaky completed, attempts 3",
      "step open/again/again pending, attempts 1, due",
      "loop ended completed",
      "race decided completed",
      "message paid completed",
      "message open/late/late pending, due",
      "version_check gate completed",
    ],
    program: async (ctx) => {
      const flaky = await ctx.step({
        name: "flaky",
        retryBackoffBase: 100,
        run: (step: Any) => {
          if (step.attempt < 3) throw new TypeError(`attempt ${step.attempt}`);
          return step.attempt;
        },
      });
      const ended = await ctx.loop({
        name: "ended",
        state: 0,
        run: async (turn: Any, n: number) => {
          await turn.sleep("short", 10);
          return n === 2 ? Loop.break(n) : Loop.continue(n + 1);
        },
      });
      const decided = await ctx.race("decided", [
        { name: "time", run: (branch: Any) => branch.sleep("short", 50) },
        { name: "message", run: (branch: Any) => branch.queue.next("go", { names: ["go"], timeout: HOUR_MS }) },
        { name: "rejected", run: () => Promise.reject(new RangeError("no")) },
      ]);
      const paid = await ctx.queue.next("paid", { names: ["payments"], timeout: HOUR_MS });
      const version = await ctx.getVersion("gate", 2);
      const joined = await ctx.join("open", {
        again: {
          run: (branch: Any) =>
            branch.step({
              name: "again",
              retryBackoffBase: 300_000,
              retryBackoffMax: HOUR_MS,
              run: (step: Any) => {
                if (step.attempt === 1) throw new Error("not yet");
                return step.attempt;
              },
            }),
        },
        late: { run: (branch: Any) => branch.queue.nextBatch("late", { names: ["a", "b"], timeout: HOUR_MS }) },
      });
      await note(ctx, "result", [flaky, ended, decided.winner, paid.body, version, joined]);
    },
    begin: async (golden) => {
      await golden.world.pass(5_000);
      await send(golden, "payments", "thanks");
      await golden.world.settle();
    },
    ends: {
      ...done,
      output: undefined,
      state: { log: [[3, 2, "time", "thanks", 2, { again: 2, late: [] }]] },
    },
  },
  {
    name: "being-destroyed",
    holds: ["d/destroy"],
    isCutOff: true,
    config: () => ({
      onDestroy: async () => {
        for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      },
      actions: { end: (c: Any) => c.destroy() },
    }),
    program: (ctx) => ctx.sleep("pause", HOUR_MS),
    begin: async (golden) => {
      await golden.world.pass(1_000);
      // The hook runs when this returns.
      await golden.call("end");
    },
    ends: { status: undefined, state: undefined, queued: [], left: [], alarmAt: null },
  },
];
