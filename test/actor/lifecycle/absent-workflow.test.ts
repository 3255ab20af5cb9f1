import { describe, expect, it } from "vitest";
import { actor, setup, workflow, type AnyActorDefinition, type Registry } from "../../../src/actor/index.js";
import { decodeValue, encodeValue } from "../../../src/protocol/index.js";
import type { World, WorldActor, WorldOptions } from "../../../src/testing/index.js";
import { testWorld } from "../../support/test-world.js";

// An actor that a deploy has taken the code of its workflow from, and what becomes of it until the code is back.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Times at which code that is missing is looked for, in a day without it: after 1, 2, 4 … 60 min. */
const LOOKS_A_DAY = 28;

const actions = {
  done: (c: Context) => c.state.done,
  status: (c: Context) => c.workflow.status(),
  history: (c: Context) => c.workflow.history().length,
  cancel: (c: Context) => c.workflow.cancel(),
  rehearse: (c: Context) => c.workflow.cancel({ dryRun: true }),
  undo: (c: Context) => c.workflow.cancel({ rollback: true }),
  cancelInherited: (c: Context) => c.workflow.cancel(Object.create({ dryRun: true, rollback: true }) as object),
  recover: (c: Context) => c.workflow.recover(),
  replay: (c: Context, id?: string) => c.workflow.replayFrom(id),
  send: async (c: Context, body: unknown) => (await c.queue.send("work", body)).id,
  take: async (c: Context) => (await c.queue.tryNextBatch({ count: 10 })).map(({ id, body }) => [id, body]),
};
interface Context {
  readonly state: { done: unknown[] };
  readonly workflow: {
    status(): unknown;
    history(): unknown[];
    cancel(options?: object): unknown;
    recover(): void;
    replayFrom(id?: string): void;
  };
  readonly queue: {
    send(name: string, body: unknown): Promise<{ readonly id: number }>;
    tryNextBatch(options: { count: number }): Promise<{ readonly id: number; readonly body: unknown }[]>;
  };
}

/** Takes one message and completes it, holds the next one through an hour's sleep, then takes a third. */
const withCode = actor({
  state: { done: [] as unknown[] },
  run: workflow(async (ctx) => {
    const [first] = await ctx.queue.nextBatch("first", { names: ["work"], completable: true });
    await first?.complete?.();
    const [held] = await ctx.queue.nextBatch("held", { names: ["work"], completable: true });
    await ctx.sleep("hour", HOUR_MS);
    await held?.complete?.();
    const [last] = await ctx.queue.nextBatch("last", { names: ["work"] });
    await ctx.step("end", (step) => {
      step.state.done.push(first?.body, held?.body, last?.body);
    });
  }),
  actions: actions as never,
}) as unknown as AnyActorDefinition;
const withoutCode = actor({
  state: { done: [] as unknown[] },
  actions: actions as never,
}) as unknown as AnyActorDefinition;
const other = actor({ run: workflow(async () => {}) }) as unknown as AnyActorDefinition;

const before = setup({ use: { subject: withCode } }) as unknown as Registry;
const without = setup({ use: { subject: withoutCode } }) as unknown as Registry;
/** Another actor of the Worker brings the engine. */
const withEngine = setup({ use: { subject: withoutCode, other } }) as unknown as Registry;

type Log = { level: string; entry: Record<string, unknown> }[];

/** An actor that sleeps in its workflow and holds the second of two messages; its code is not there from now on. */
async function deprived(
  registry: Registry,
  options: Partial<WorldOptions> = {},
): Promise<{ world: World; subject: WorldActor; log: Log }> {
  const log: Log = [];
  const world = testWorld(before, {
    onLog: (level, entry) => log.push({ level, entry: entry as Log[number]["entry"] }),
    ...options,
  });
  const subject = world.actor("subject");
  for (const body of ["a", "b"]) await subject.call("send", body);
  await world.settle();
  world.deploy(registry);
  return { world, subject, log };
}

const diverged = (log: Log): Log => log.filter(({ entry }) => entry["code"] === "workflow/history_diverged");
const entriesOf = (subject: WorldActor): [string, Uint8Array][] =>
  [...subject.store.dump()].filter(([key]) => key.startsWith("e/"));
const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "no error",
    (error: { group: string; code: string }) => `${error.group}/${error.code}`,
  );

describe.each([
  ["in a Worker none of whose actors has a workflow", without],
  ["in a Worker another of whose actors has a workflow", withEngine],
])("a workflow in flight whose code is gone, %s", (_, registry) => {
  it("is diverged, says so once, and is looked at again after 1, 2, 4 … 60 min", async () => {
    const { world, subject, log } = await deprived(registry);
    const stored = entriesOf(subject);
    expect(stored.length).toBeGreaterThan(2);
    // The sleep is over: its alarm comes.
    if (registry === withEngine) await world.pass(HOUR_MS);
    const status = (await subject.call("status")) as { status: string; error: { name: string; message: string } };
    expect(status).toMatchObject({ status: "diverged", error: { name: "HistoryDivergedError" } });
    expect(status.error.message).toMatch(
      /^The actor "subject" has a workflow in flight, but its (code|Worker) no longer has one\. /,
    );
    let wakes = 0;
    const end = world.clock.now() + 24 * HOUR_MS;
    while ((subject.alarmComesAt ?? Infinity) <= end) {
      await world.pass((subject.alarmComesAt as number) - world.clock.now());
      wakes += 1;
      await subject.evict();
    }
    expect(wakes).toBeGreaterThan(LOOKS_A_DAY - 2);
    expect(wakes).toBeLessThan(LOOKS_A_DAY + 2);
    expect(diverged(log)).toHaveLength(1);
    expect(entriesOf(subject)).toEqual(stored);
    expect(subject.holdsLease).toBe(false);
  });

  it("is found to be so by whatever starts the actor first, its own alarm too", async () => {
    const { world, subject, log } = await deprived(registry);
    await world.pass(2 * HOUR_MS);
    expect(diverged(log)).toHaveLength(1);
    expect(subject.alarmComesAt).toBeLessThanOrEqual(world.clock.now() + HOUR_MS);
  });

  it("takes no message, gives nobody what it holds, and its ids are not given again", async () => {
    const { world, subject } = await deprived(registry);
    const accepted = await subject.send({ mode: "get" }, { kind: "send", queue: "work", body: encodeValue("c") });
    expect(accepted.ok && (decodeValue(accepted.output as Uint8Array) as { id: number }).id).toBe(3);
    await world.pass(3 * HOUR_MS);
    expect(await subject.call("take")).toEqual([[3, "c"]]);
    expect(await subject.call("send", "d")).toBe(4);
  });

  it("goes on when its code is back, with what was sent meanwhile", async () => {
    const { world, subject } = await deprived(registry);
    await subject.call("send", "c");
    await world.pass(5 * HOUR_MS);
    world.deploy(before);
    await world.pass(HOUR_MS);
    expect(await subject.call("done")).toEqual(["a", "b", "c"]);
    expect(await subject.call("status")).toMatchObject({ status: "completed" });
    expect(subject.store.alarmAt).toBe(null);
  });

  it("can be cancelled: others get what it held, and nothing wakes the actor any more", async () => {
    const { world, subject } = await deprived(registry);
    await subject.call("cancel");
    expect(await subject.call("status")).toMatchObject({
      status: "cancelled",
      startedAt: world.clock.now(),
      endedAt: world.clock.now(),
    });
    expect(await subject.call("take")).toEqual([[2, "b"]]);
    await world.pass(HOUR_MS);
    expect(subject.store.alarmAt).toBe(null);
    world.deploy(before);
    expect(await subject.call("status")).toMatchObject({ status: "cancelled" });
    expect(await subject.call("done")).toEqual([]);
  });

  it("is destroyed with its actor", async () => {
    const { world, subject } = await deprived(registry);
    expect(await subject.send({ mode: "get" }, { kind: "destroy" })).toMatchObject({ ok: true });
    await world.settle();
    expect(subject.store.dump().size).toBe(0);
  });

  it("goes on the same wherever the process dies", async () => {
    const play = async (options: Partial<WorldOptions>): Promise<unknown[]> => {
      const { world, subject } = await deprived(registry, options);
      await subject.call("send", "c").catch(() => undefined);
      await world.pass(90 * MINUTE_MS);
      world.deploy(before);
      await world.pass(2 * HOUR_MS);
      const done = (await subject.call("done").catch(() => subject.call("done"))) as unknown[];
      return [done, subject.store.alarmAt];
    };
    let commits = 0;
    const undisturbed = await play({ onCommit: () => void (commits += 1) });
    expect(undisturbed).toEqual([["a", "b", "c"], null]);
    let first = 0;
    await deprived(registry, { onCommit: () => void (first += 1) });
    expect(commits).toBeGreaterThan(first + 5);
    for (let at = first + 1; at <= commits; at += 1) {
      for (const fault of ["crash-before", "crash-after"] as const) {
        const [done, alarmAt] = await play({ fault: (_actor, commit) => (commit === at ? fault : undefined) });
        // A message whose commit was never made was refused to its sender.
        expect([["a", "b", "c"], []]).toContainEqual(done);
        if ((done as unknown[]).length > 0) expect(alarmAt).toBe(null);
      }
    }
  });
});

describe("in a Worker without the engine", () => {
  it("what only the engine can tell is refused, with what to do", async () => {
    const { subject } = await deprived(without);
    for (const what of ["history", "recover", "replay"])
      expect(await codeOf(subject.call(what)), what).toBe("workflow/not_deployed");
    expect(await codeOf(subject.call("replay", "1"))).toBe("workflow/not_deployed");
    await expect(subject.call("history")).rejects.toThrow(
      /deploy a Worker that imports `workflow` from "perdure\/workflow"/,
    );
  });

  it("how a workflow has ended can be told, and its actor rests", async () => {
    for (const [end, status] of [
      [async (): Promise<unknown> => ({ sum: 3 }), { status: "completed", output: { sum: 3 } }],
      [
        async () => Promise.reject(new RangeError("no")),
        { status: "failed", error: { name: "RangeError", message: "no" } },
      ],
    ] as const) {
      const registry = setup({
        use: { subject: actor({ state: {}, run: workflow(end as never), actions: actions as never }) },
      });
      const world = testWorld(registry as unknown as Registry);
      const subject = world.actor("subject");
      const told = await subject
        .call("done")
        .then(() => world.settle())
        .then(() => subject.call("status"));
      world.deploy(without);
      expect(await subject.call("status")).toEqual(told);
      expect(told).toMatchObject(status);
      expect(subject.store.alarmAt).toBe(null);
    }
  });

  it("a cancel that undoes, or tells what it would do, needs the code, and changes nothing without it", async () => {
    const { subject } = await deprived(without);
    expect(await subject.call("status")).toMatchObject({ status: "diverged" });
    const stored = subject.store.dump();
    for (const what of ["undo", "rehearse"])
      expect(await codeOf(subject.call(what)), what).toBe("workflow/not_deployed");
    expect(subject.store.dump()).toEqual(stored);
    expect(await subject.call("status")).toMatchObject({ status: "diverged" });
    // Only own properties are options.
    await subject.call("cancelInherited");
    expect(await subject.call("status")).toMatchObject({ status: "cancelled" });
  });

  it("an actor that never had a workflow has none to ask about", async () => {
    const subject = testWorld(without).actor("subject");
    expect(await subject.call("status")).toEqual({ status: "none" });
    expect(await subject.call("history")).toBe(0);
    for (const what of ["cancel", "recover", "replay"]) expect(await subject.call(what), what).toBe(undefined);
    expect(await codeOf(subject.call("replay", "1"))).toBe("workflow/step_not_found");
  });
});
