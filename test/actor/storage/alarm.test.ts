import { describe, expect, it } from "vitest";
import { actor, workflow } from "../../../src/actor/index.js";
import { encodeValue } from "../../../src/protocol/index.js";
import { single, type Single } from "../subject.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOTHING = new Uint8Array();
// oxlint-disable-next-line typescript/no-explicit-any -- programs in the loosest types
type Ctx = any;

/** An actor that sleeps an hour, then a day, and changes its state after each. */
function sleeper(): Single {
  return single(
    actor({
      state: { woke: 0 },
      run: workflow(async (ctx) => {
        for (const [name, durationMs] of [
          ["hour", HOUR_MS],
          ["day", DAY_MS],
        ] as const) {
          await ctx.sleep(name, durationMs);
          await ctx.step(`after ${name}`, (step) => {
            step.state.woke += 1;
          });
        }
      }),
      actions: { get: (c) => c.state.woke, plan: (c, at: number) => c.schedule.at(at, "get") },
    }),
  );
}

async function started(): Promise<Single & { readonly dueAt: number }> {
  const made = sleeper();
  await made.subject.call("get");
  await made.world.settle();
  return { ...made, dueAt: made.subject.store.alarmAt ?? 0 };
}

describe("the one alarm", () => {
  it("is the earliest stored deadline, and nothing else moves it", async () => {
    const { world, subject, dueAt } = await started();
    expect(dueAt).toBe(world.clock.now() + HOUR_MS);
    const { alarmWrites, rows } = subject.store;
    for (let i = 0; i < 10; i += 1) await subject.call("get");
    subject.crash();
    for (let i = 0; i < 10; i += 1) await subject.call("get");
    expect(subject.store.alarmAt).toBe(dueAt);
    expect([subject.store.alarmWrites, subject.store.rows]).toEqual([alarmWrites, rows]);
    await subject.call("plan", dueAt - 1);
    expect(subject.store.alarmAt).toBe(dueAt - 1);
    await subject.call("plan", dueAt + 1);
    expect(subject.store.alarmAt).toBe(dueAt - 1);
  });

  it("that comes for nothing changes nothing and stands again, in memory or after a restart, once or twice", async () => {
    for (const crash of [false, true]) {
      const { subject, dueAt } = await started();
      for (let i = 0; i < 2; i += 1) {
        if (crash) subject.crash();
        await subject.fireAlarm();
        expect(subject.store.alarmAt).toBe(dueAt);
        expect(await subject.call("get")).toBe(0);
      }
      expect(subject.holdsLease).toBe(false);
    }
  });

  it("that was lost is put back by the next event, whatever it is", async () => {
    const { world, subject, dueAt } = await started();
    subject.crash();
    subject.store.setAlarm(null);
    await subject.call("get");
    expect(subject.store.alarmAt).toBe(dueAt);
    subject.crash();
    subject.store.setAlarm(null);
    world.clock.moveTo(dueAt + DAY_MS / 2);
    await subject.call("get");
    await world.settle();
    expect(await subject.call("get"), "what was due ran").toBe(1);
    expect(subject.store.alarmAt).toBe(dueAt + DAY_MS / 2 + DAY_MS);
  });

  it("that is later than the earliest deadline is moved by a boot, one that is earlier is not", async () => {
    const { world, subject, dueAt } = await started();
    subject.crash();
    subject.store.setAlarm(dueAt - 1_000);
    await subject.call("get");
    expect(subject.store.alarmAt, "a wake is a hint").toBe(dueAt - 1_000);
    subject.crash();
    world.clock.moveTo(dueAt - 300_000);
    subject.store.setAlarm(dueAt + 60_000);
    await subject.call("get");
    expect(subject.store.alarmAt).toBe(dueAt);
  });

  it("that is late by minutes settles what is due by stored times", async () => {
    const { world, subject, dueAt } = await started();
    world.clock.moveTo(dueAt + 5 * 60_000);
    await world.settle();
    expect(await subject.call("get")).toBe(1);
    expect(subject.store.alarmAt, "the next sleep began when the step was made").toBe(dueAt + 5 * 60_000 + DAY_MS);
  });

  it("is not moved by a clock that jumps back a little, and a finished sleep stays finished", async () => {
    const { world, subject, dueAt } = await started();
    await world.pass(HOUR_MS);
    expect(await subject.call("get")).toBe(1);
    const next = subject.store.alarmAt;
    world.clock.moveTo(dueAt - 60_000);
    subject.crash();
    await subject.call("get");
    await world.settle();
    expect(await subject.call("get")).toBe(1);
    expect(subject.store.alarmAt).toBe(next);
  });

  it("is gone when all is done, and so is the timer in memory", async () => {
    const { world, subject } = await started();
    await world.passUntilQuiet();
    expect(await subject.call("get")).toBe(2);
    expect(subject.store.alarmAt).toBe(null);
    expect(subject.timersHeld).toBe(0);
    expect([subject.store.keys.filter((key) => key.startsWith("d/")), subject.holdsLease]).toEqual([[], false]);
  });

  it("is at most a year ahead, and a sleep of three years ends on time all the same", async () => {
    const { world, subject } = single(
      actor({
        state: { woke: false },
        run: workflow(async (ctx) => {
          await ctx.sleep("long", 3 * 365 * DAY_MS);
          await ctx.step("woke", (step) => {
            step.state.woke = true;
          });
        }),
        actions: { get: (c) => c.state.woke },
      }),
    );
    await subject.call("get");
    await world.settle();
    const startedAt = world.clock.now();
    expect(subject.store.alarmAt).toBe(startedAt + 365 * DAY_MS);
    await world.pass(3 * 365 * DAY_MS - 1);
    expect(await subject.call("get")).toBe(false);
    expect(subject.timersHeld).toBe(0);
    await world.pass(1);
    expect(await subject.call("get")).toBe(true);
    expect(subject.store.alarmAt).toBe(null);
  });
});

it("a burst of work leaves an alarm that is far ahead as it was, until half the way is gone", async () => {
  const { world, subject } = single(
    actor({
      run: workflow(async (ctx: Ctx) => {
        for (let n = 0; ; n += 1) await ctx.queue.next("next");
      }),
      actions: { get: () => "there" },
    }),
  );
  const send = { kind: "send", queue: "q", body: encodeValue(1) } as const;
  await subject.send({ mode: "getOrCreate" }, send);
  await world.settle();
  const { alarmAt } = subject.store;
  for (const isCold of [false, true]) {
    await world.pass(DAY_MS);
    if (isCold) subject.crash();
    await subject.send({ mode: "get" }, send);
    await world.settle();
    expect(subject.store.alarmAt).toBe(alarmAt);
  }
  await world.pass(200 * DAY_MS);
  await subject.send({ mode: "get" }, send);
  await world.settle();
  expect(subject.store.alarmAt).toBe(world.clock.now() + 365 * DAY_MS);
});

describe("a start that nobody needs", () => {
  const run = (wait: (ctx: Ctx) => Promise<unknown>) => workflow(async (ctx: Ctx) => void (await wait(ctx)));
  it.each<[string, Record<string, unknown>]>([
    ["without a workflow", {}],
    ["with a workflow that has ended", { run: run(async () => {}) }],
    ["that waits for a message", { run: run((ctx) => ctx.queue.next("message")) }],
    ["that waits for a deadline with a fraction", { run: run((ctx) => ctx.sleep("s", 50_000.25)) }],
    ["that waits for longer than a year", { run: run((ctx) => ctx.sleep("s", 3 * 365 * DAY_MS)) }],
    [
      "that has a schedule",
      {
        onCreate: (c: { schedule: { after(ms: number, action: string): unknown } }) => c.schedule.after(HOUR_MS, "get"),
      },
    ],
    ["that waits to sleep", { onSleep: () => {} }],
  ])("of an actor %s writes neither row nor alarm, and is no cut-off", async (_, config) => {
    const { world, subject } = single(actor({ ...config, actions: { get: () => 0 } } as never));
    await subject.call("get");
    await world.settle();
    const { rows, alarmWrites } = subject.store;
    for (let starts = 0; starts < 3; starts += 1) {
      subject.crash();
      await world.pass(7_000);
      await subject.call("get");
      await world.settle();
      expect([subject.store.rows - rows, subject.store.alarmWrites - alarmWrites, subject.holdsLease]).toEqual([
        0,
        0,
        false,
      ]);
    }
  });

  it("reads no history while the alarm is further ahead than any lease, until something needs it", async () => {
    const { world, subject, dueAt } = await started();
    const rows = subject.store.dump();
    subject.crash();
    // No start that decodes these goes on.
    subject.store.restore(new Map([...rows].map(([key, row]) => [key, key.startsWith("e/") ? NOTHING : row])), dueAt);
    expect(await subject.call("get")).toBe(0);
    subject.crash();
    subject.store.restore(rows, dueAt);
    expect(await subject.call("get")).toBe(0);
    await subject.call("plan", dueAt + 1);
    expect(subject.store.alarmAt, "of the workflow").toBe(dueAt);
    await subject.call("plan", dueAt - 1);
    expect(subject.store.alarmAt).toBe(dueAt - 1);
    await world.pass(HOUR_MS);
    expect(await subject.call("get")).toBe(1);
    expect(subject.holdsLease).toBe(false);
  });

  it("repairs an alarm that stands far behind a schedule, whatever the history says", async () => {
    const { world, subject, dueAt } = await started();
    await subject.call("plan", world.clock.now() + 60_000);
    subject.crash();
    subject.store.setAlarm(dueAt);
    await subject.call("get");
    expect(subject.store.alarmAt).toBe(world.clock.now() + 60_000);
  });

  it("finds a lease where the alarm is on its way, charges nobody with it, and leaves nothing of it", async () => {
    const { world, subject } = single(
      actor({
        state: { ran: 0 },
        onCreate: (c) => c.schedule.after(HOUR_MS, "count"),
        actions: { get: (c) => c.state.ran, count: (c) => void (c.state.ran += 1) },
      }),
    );
    await subject.call("get");
    for (let starts = 0; starts < 12; starts += 1) {
      subject.crash();
      // What a call sees that starts the object while its alarm is being delivered.
      subject.store.setAlarm(null);
      await subject.call("get");
      await world.settle();
      expect(subject.store.keys.filter((key) => key === "l")).toEqual([]);
    }
    await world.passUntilQuiet();
    expect(await subject.call("get")).toBe(1);
    expect([subject.store.alarmAt, subject.holdsLease]).toEqual([null, false]);
  });
});

describe("the lease of a busy actor", () => {
  /** An actor in a step that runs until it is told to end. */
  async function busy() {
    let release: () => void = () => {};
    let runs = 0;
    const made = single(
      actor({
        state: { done: 0 },
        run: workflow(async (ctx) => {
          await ctx.step({
            name: "long",
            timeout: 0,
            run: async (step) => {
              runs += 1;
              await new Promise<void>((resolve) => (release = resolve));
              step.state.done += 1;
            },
          });
        }),
        actions: { get: (c) => c.state.done },
      }),
    );
    await made.subject.call("get");
    await made.world.settle();
    return { ...made, end: () => release(), runs: () => runs };
  }

  it("keeps an alarm at most ten seconds ahead for as long as the work takes, and never starts it twice", async () => {
    const { world, subject, end, runs } = await busy();
    expect(subject.store.alarmAt).toBe(world.clock.now() + 1_000);
    for (let i = 0; i < 30; i += 1) {
      await world.pass(10_000);
      expect((subject.store.alarmAt ?? Number.POSITIVE_INFINITY) - world.clock.now()).toBeLessThanOrEqual(10_000);
    }
    expect(runs()).toBe(1);
    end();
    await world.settle();
    expect(await subject.call("get")).toBe(1);
    expect(subject.holdsLease).toBe(false);
    expect(subject.store.alarmAt).toBe(null);
  });

  it("costs three more alarms in ten seconds, then one every ten seconds, and no row", async () => {
    const { world, subject } = await busy();
    const { rows, alarmWrites } = subject.store;
    const written = () => [subject.store.rows - rows, subject.store.alarmWrites - alarmWrites];
    await world.pass(999);
    expect(written()).toEqual([0, 0]);
    await world.pass(9_001);
    expect(written()).toEqual([0, 3]);
    await world.pass(300_000);
    expect(written()).toEqual([0, 33]);
  });

  it("brings back work soon: from two seconds on the median wait is at most half its age, and none is over ten seconds", async () => {
    const AGES_PER_OCTAVE = 8;
    for (let youngest = 2_000; youngest < 100_000; youngest *= 2) {
      const parts: number[] = [];
      for (let step = 0; step < AGES_PER_OCTAVE; step += 1) {
        const ageMs = Math.round(youngest * 2 ** (step / AGES_PER_OCTAVE)) + 1;
        const { world, subject, runs } = await busy();
        await world.pass(ageMs);
        subject.crash();
        const waitMs = (subject.store.alarmAt ?? Number.POSITIVE_INFINITY) - world.clock.now();
        expect(waitMs, `at ${ageMs}`).toBeLessThanOrEqual(Math.min(10_000, ageMs + 1_000));
        await world.pass(waitMs);
        expect(runs(), `at ${ageMs}`).toBe(2);
        parts.push(waitMs / ageMs);
      }
      expect(parts.toSorted((a, b) => a - b)[AGES_PER_OCTAVE / 2], `from ${youngest} on`).toBeLessThanOrEqual(0.5);
    }
  });

  it.each([1_000, 3_000, 7_000, 15_000, 25_000])(
    "brings work back that dies %d ms old in its alarm, before the next one stands",
    async (ageMs) => {
      const { world, subject, runs } = await busy();
      await world.pass(ageMs - 1);
      const { commits } = subject.store;
      subject.store.fault = (number) => (number === commits + 1 ? "crash-before" : undefined);
      world.clock.moveTo(world.clock.now() + 1);
      await world.settle();
      expect([subject.crashes, runs()]).toEqual([1, 1]);
      subject.store.fault = undefined;
      // The platform tries its alarm again.
      await world.pass(2_000);
      expect(runs()).toBe(2);
      expect(subject.store.keys, "and it counts").toContain("l");
    },
  );

  it("backs off when it dies soon after it came back, and a second death costs ten seconds at most", async () => {
    const { world, subject, runs } = await busy();
    await world.pass(2_000);
    subject.crash();
    await world.pass(1_000);
    expect(runs()).toBe(2);
    await world.pass(500);
    subject.crash();
    expect(subject.store.alarmAt).toBe(world.clock.now() + 9_500);
    await world.pass(9_500);
    expect(runs()).toBe(3);
    expect(subject.store.alarmAt).toBe(world.clock.now() + 20_000);
  });

  it("brings the work back when the object dies, once the time is over and without a call", async () => {
    const { world, subject, end, runs } = await busy();
    subject.crash();
    expect(runs()).toBe(1);
    await world.pass(999);
    expect(runs()).toBe(1);
    await world.pass(1);
    expect(runs()).toBe(2);
    end();
    await world.settle();
    expect(await subject.call("get")).toBe(1);
  });

  it("needs no row: a start tells by the alarm, be it there, gone off, or lost, and takes the work up at once", async () => {
    for (const lost of [false, true]) {
      const { world, subject, end, runs } = await busy();
      expect(subject.store.keys).toEqual(["a", "s"]);
      subject.crash();
      if (lost) subject.store.setAlarm(null);
      await subject.call("get");
      await world.settle();
      expect(runs()).toBe(2);
      expect(subject.store.keys, "now it counts").toContain("l");
      end();
      await world.settle();
      expect(subject.store.keys).toEqual(["a", "e/1", "s"]);
    }
  });

  it("is not lost on a start that finds a workflow without any alarm, nor on one whose deadline is nearer than the lease", async () => {
    const runs: string[] = [];
    const { world, subject } = single(
      actor({
        run: workflow(async (ctx) => {
          await ctx.queue.next("message");
          runs.push("began");
          await new Promise(() => {});
        }),
        actions: {
          get: () => 0,
          plan: (c, ms: number) => c.schedule.after(ms, "get"),
          send: (c) => c.queue.send("in", 1).then(() => undefined),
        },
      }),
    );
    await subject.call("send");
    await world.settle();
    expect(runs).toHaveLength(1);
    // The alarm is 1 ms after the deadline: exactly at the deadline it would mean an actor at rest.
    await subject.call("plan", 300);
    expect(subject.store.alarmAt).toBe(world.clock.now() + 301);
    expect(subject.holdsLease).toBe(true);
    subject.crash();
    await subject.call("get");
    await world.settle();
    expect(runs).toHaveLength(2);
    await world.pass(301);
    expect(subject.holdsLease).toBe(true);
    subject.crash();
    subject.store.setAlarm(null);
    await subject.call("get");
    await world.settle();
    expect(runs).toHaveLength(3);
  });

  it("does not hold what was dropped: an activation that lost its store changes nothing", async () => {
    let refuse = false;
    const { world, subject, log } = single(
      actor({
        state: { done: 0 },
        run: workflow(async (ctx) => {
          await ctx.step("pauses", async (step) => {
            await world.clock.delay(500);
            step.state.done += 1;
          });
        }),
        actions: { get: (c) => c.state.done },
      }),
      { fault: () => (refuse ? "refuse" : undefined) },
    );
    await subject.call("get");
    refuse = true;
    await world.pass(500);
    refuse = false;
    expect(subject.crashes, "the instance was thrown away").toBe(1);
    expect(log.some(({ entry }) => String(entry["msg"]).includes("activation is lost"))).toBe(true);
    await world.passUntilQuiet();
    expect(await subject.call("get"), "and the step ran again").toBe(1);
    expect(subject.store.alarmAt).toBe(null);
  });
});
