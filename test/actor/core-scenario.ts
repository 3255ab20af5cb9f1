import { actor, event, queue, setup, workflow, type AnyActorDefinition } from "../../src/actor/index.js";
import { encodeValue } from "../../src/protocol/index.js";
import { ManualClock, type World } from "../../src/testing/index.js";
import { CriticalError, Loop } from "../../src/workflow/index.js";
import { testWorld } from "../support/test-world.js";

// oxlint-disable-next-line typescript/no-explicit-any -- contexts of actions, hooks and steps share one signature here
type Context = any;

/** What a run of the scenario came to: what was answered, logged as an error, and stored. */
export interface Outcome {
  readonly answers: readonly string[];
  readonly errors: readonly string[];
  /** Rows of every actor and its alarm, at several moments. */
  readonly stored: readonly string[];
}

const text = {
  "~standard": {
    version: 1 as const,
    vendor: "test",
    validate: (value: unknown) => (typeof value === "string" ? { value } : { issues: [{ message: "a string" }] }),
  },
};

/**
 * The saga: steps, retries, a failure that is caught, sleeps, a queue, a join, a race, a loop, a try block; a message
 * says whether it fails and is undone.
 */
function saga(): AnyActorDefinition["config"]["run"] {
  return workflow(
    async (ctx: Context) => {
      await ctx.rollbackCheckpoint("begin");
      const first = await ctx.step({
        name: "first",
        run: (step: Context) => (step.state.log.push("first"), { paid: 1 }),
        rollback: (step: Context) => step.state.log.push("first undone"),
      });
      await ctx.step("flaky", (step: Context) => {
        if (step.attempt < 2) throw new Error("once");
      });
      await ctx
        .step("hopeless", () => {
          throw new CriticalError("never", { metadata: { why: "test" } });
        })
        .catch((error: Error) => error.message);
      await ctx.tryStep("tried", () => {
        throw new CriticalError("tried");
      });
      await ctx.try("block", async (block: Context) => block.step("inner", () => 1));
      await ctx.getVersion("gate", 2);
      await ctx.removed("gone", "step");
      await ctx.sleep("nap", 1_000);
      await ctx.join("both", {
        a: { run: async (branch: Context) => branch.step("a", () => first.paid) },
        b: { run: async (branch: Context) => (await branch.sleep("pause", 500), branch.step("b", () => 2)) },
      });
      await ctx.race("either", [
        { name: "message", run: async (branch: Context) => branch.queue.next("race", { names: ["race"] }) },
        { name: "timer", run: async (branch: Context) => branch.sleep("timer", 700) },
      ]);
      await ctx.loop({
        name: "jobs",
        state: { n: 0 },
        run: async (loop: Context, state: { n: number }) => {
          const message = await loop.queue.next("job", { names: ["jobs"], completable: true });
          const done = await loop.step("work", (step: Context) => {
            step.state.log.push(message.body);
            return String(message.body);
          });
          await message.complete({ done });
          return state.n >= 2 ? Loop.break(state.n) : Loop.continue({ n: state.n + 1 });
        },
      });
      const end = await ctx.queue.next("end", { names: ["end"], timeout: 60_000 });
      await ctx.step("last", () => {
        if (end.body === "fail") throw new CriticalError("asked to");
      });
      return { end: end.body };
    },
    {
      onError: (c: Context, told: object) => {
        c.state.log.push(`told ${Object.keys(told).join()}`);
      },
    } as never,
  ) as never;
}

function actors(): Record<string, AnyActorDefinition> {
  const busy = actor({
    createState: (_: Context, input: unknown) => ({ input, log: [] as unknown[], byId: {} as Record<string, unknown> }),
    createVars: () => ({ n: 0 }),
    createConnState: (_: Context, params: unknown) => ({ params, said: 0 }),
    queues: {
      jobs: queue<string, unknown>(),
      end: queue(),
      race: queue(),
      typed: queue({ message: text, complete: text }),
    },
    events: { told: event<string>(), typed: event({ schema: text as never }) },
    actionInputSchemas: {
      checked: { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } },
    },
    onBeforeConnect: () => {},
    onConnect: (c: Context, conn: Context) => void (conn.params && c.state.log.push("connected")),
    onDisconnect: (c: Context, conn: Context) => void (conn.params && c.state.log.push("disconnected")),
    onWake: (c: Context) => c.cron.set({ name: "daily", expression: "0 3 * * *", action: "tick", args: ["daily"] }),
    onStateChange: () => {},
    onRequest: async (_: Context, request: Request) => new Response(await request.text()),
    onDestroy: (c: Context) => void c.state.log.push("destroyed"),
    run: saga() as never,
    actions: {
      get: (c: Context) => c.state,
      set: (c: Context, id: string, value: unknown) => {
        c.state.byId[id] = value;
        c.broadcast("told", id);
        return c.state.byId[id];
      },
      checked: (_: Context, value: unknown) => value,
      nested: { deep: (_: Context, value: unknown) => [value] },
      say: (c: Context) => (c.conn.state.said += 1),
      fail: () => {
        throw new Error("an internal one");
      },
      refuse: (c: Context) => {
        throw new c.UserError("no");
      },
      plan: (c: Context) => c.schedule.after(2_000, "tick", "planned"),
      planned: async (c: Context) => [
        (await c.schedule.list()).length,
        (await c.cron.list()).length,
        (await c.cron.history("every")).length,
      ],
      every: (c: Context) =>
        c.cron.every({ name: "every", interval: 5_000, action: "tick", args: ["every"], maxHistory: 5 }),
      tick: (c: Context, what: string) => {
        c.state.log.push(what);
        if (what === "every" && c.state.log.length % 2 === 0) throw new Error("a job that fails");
      },
      kv: async (c: Context) => {
        await c.kv.put("a", "1");
        await c.kv.batchPut([
          ["b", new Uint8Array([1])],
          ["c", "3"],
        ]);
        await c.kv.delete("c");
        return [await c.kv.get("a"), await c.kv.list()];
      },
      typed: async (c: Context) => {
        await c.queue.send("typed", "x");
        const message = await c.queue.next({ names: ["typed"], completable: true });
        await message.complete("y");
      },
      ask: (c: Context) => c.client().other.getOrCreate("o").add(2),
      send: (c: Context) => c.client().busy.getOrCreate("k").send("jobs", "from an action"),
      status: (c: Context) => c.workflow.status(),
      history: async (c: Context) => (await c.workflow.history()).length,
      cancel: (c: Context) => c.workflow.cancel(),
      end: (c: Context) => c.destroy(),
    },
  } as never) as AnyActorDefinition;
  const other = actor({
    state: { n: 0 },
    actions: { add: (c: Context, by: number) => (c.state.n += by), get: (c: Context) => c.state.n },
  } as never) as AnyActorDefinition;
  const handled = actor({
    state: { n: 0 },
    run: async (c: Context) => {
      for await (const message of c.queue.iter()) {
        c.state.n += message.body;
        if (c.state.n >= 3) return;
      }
    },
    actions: { get: (c: Context) => c.state.n },
    onSleep: (c: Context) => {
      c.state.n += 100;
    },
    options: { sleepTimeout: 1_000 },
  } as never) as AnyActorDefinition;
  return { busy, other, handled };
}

/** Everything that an actor does, with crashes and restarts between, one neighbour that nothing happens to, and one that is destroyed. */
export async function runCore(): Promise<Outcome> {
  const answers: string[] = [];
  const errors: string[] = [];
  const stored: string[] = [];
  const world = testWorld(setup({ use: actors() } as never), {
    clock: new ManualClock(),
    onLog: (level, entry) => {
      if (level === "error" || level === "fatal") errors.push(show(entry));
    },
  });
  const subject = world.actor("busy", ["k"]);
  const told = async (what: string, something: Promise<unknown>): Promise<void> => {
    const ended = something.then(
      show,
      (error: { group?: string; code?: string; message?: string }) => `${error.group}/${error.code}: ${error.message}`,
    );
    let answer: string | undefined;
    void ended.then((text) => (answer = text));
    for (let rounds = 0; rounds < 50 && answer === undefined; rounds += 1) await world.settle();
    answers.push(`${what}: ${answer}`);
  };
  const keep = (): unknown => stored.push(dump(world));

  await told("neighbour", world.actor("other", ["n"]).call("add", 7));
  await told("gone", world.actor("busy", ["gone"]).call("set", "x", 1));
  await told("create", subject.send({ mode: "create", input: encodeValue({ from: "test" }) }, { kind: "resolve" }));
  await told("create again", subject.send({ mode: "create" }, { kind: "resolve" }));
  await told("nobody", world.actor("busy", ["none"]).send({ mode: "get" }, { kind: "resolve" }));
  keep();
  const socket = await subject.connect({ params: { who: "c" } });
  await socket.subscribe("told");
  await socket.call(1, "say");
  await socket.call(2, "nothing");
  for (const [action, ...args] of [
    ["set", "id", { a: [1] }],
    ["checked", 1],
    ["nested.deep", 2],
    ["fail"],
    ["nothing"],
    ["kv"],
    ["typed"],
    ["ask"],
    ["plan"],
    ["every"],
    ["planned"],
    ["status"],
  ] as const) {
    await told(action, subject.call(action, ...args));
  }
  await told(
    "request",
    subject.fetch("/x", { method: "POST", body: "hi" }).then((response) => response.text()),
  );
  keep();
  await world.pass(1_500);
  subject.crash();
  await world.pass(3_000);
  for (const body of ["one", "two"])
    await told("job", subject.send({ mode: "get" }, { kind: "send", queue: "jobs", body: encodeValue(body) }));
  await told("not declared", subject.send({ mode: "get" }, { kind: "send", queue: "nope", body: encodeValue(1) }));
  await told("invalid", subject.send({ mode: "get" }, { kind: "send", queue: "typed", body: encodeValue(1) }));
  await subject.evict();
  await world.pass(20_000);
  const again = await subject.connect({ params: { who: "again" }, encoding: "cbor" });
  await again.hangUp();
  await told("send", subject.call("send"));
  await told("history", subject.call("history"));
  keep();
  subject.crash();
  await told("end", subject.send({ mode: "get" }, { kind: "send", queue: "end", body: encodeValue("fail") }));
  await world.pass(10_000);
  await told("status", subject.call("status"));
  await told("get", subject.call("get"));
  const handled = world.actor("handled", ["h"]);
  for (const n of [1, 2])
    await told("handled", handled.send({ mode: "getOrCreate" }, { kind: "send", queue: "any", body: encodeValue(n) }));
  await world.pass(5_000);
  handled.crash();
  await told("handled get", handled.call("get"));
  keep();
  await told("end gone", world.actor("busy", ["gone"]).call("end"));
  await told("cancel", world.actor("busy", ["cancelled"]).call("cancel"));
  await world.pass(30_000);
  for (const each of world.actors) each.crash();
  await told("neighbour again", world.actor("other", ["n"]).call("get"));
  await told("gone again", world.actor("busy", ["gone"]).send({ mode: "get" }, { kind: "resolve" }));
  await told("last", subject.call("get"));
  answers.push(show(socket.received), show(again.received));
  keep();
  return { answers, errors: errors.map((each) => each.replace(/\(at .*|\n.*/gs, "")), stored };
}

function show(value: unknown): string {
  return Buffer.from(encodeValue(plainOf(value)))
    .toString("latin1")
    .replace(/[^ -~]/g, ".");
}

function plainOf(value: unknown): unknown {
  try {
    encodeValue(value);
    return value;
  } catch {
    return String(value);
  }
}

function dump(world: World): string {
  return world.actors
    .map(({ name, key, store }) =>
      [
        `${name}/${key.join()} alarm ${store.alarmAt}`,
        ...[...store.dump()].map(([row, bytes]) => `${row} ${Buffer.from(bytes).toString("hex")}`).sort(),
      ].join("\n"),
    )
    .join("\n\n");
}
