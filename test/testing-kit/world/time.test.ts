import { once } from "node:events";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { actor, queue, setup } from "../../../src/entry/index.js";
import { testWorld } from "../../../src/entry/testing.js";
import { workflow } from "../../../src/entry/workflow.js";

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

async function turns(count: number): Promise<void> {
  for (let each = 0; each < count; each += 1) await turn();
}

/** A workflow of one step, which runs `work`, and how the workflow ended. */
function stepping(work: () => unknown, options: { timeout?: number } = {}) {
  return actor({
    state: {},
    run: workflow(async (ctx) => {
      await ctx.step({ name: "work", run: () => work() as Promise<unknown>, maxRetries: 0, ...options });
      return "done";
    }),
    actions: { status: async (c) => (await c.workflow.status()).status },
  });
}

describe("time does not overtake", () => {
  test.each([
    ["a step of 1,000 turns of the event loop", () => turns(1_000)],
    ["a step with a real timer", () => new Promise((resolve) => void setTimeout(resolve, 30))],
    ["a step that reads a file", () => readFile(import.meta.filename)],
  ])("%s", async (_, work) => {
    await using world = await testWorld(setup({ use: { subject: stepping(work) } }));
    const subject = world.client.subject.getOrCreate(["a"]);
    const began = subject.status();
    await world.advance("10 days");
    await began;
    expect(await subject.status()).toBe("completed");
  });

  test("a step whose request is answered after a real timer", async () => {
    const url = "https://slow.example.com/";
    const subject = stepping(async () => (await fetch(url)).text());
    await using world = await testWorld(setup({ use: { subject } }));
    world.fetch.on(url, async () => {
      await new Promise((resolve) => void setTimeout(resolve, 20));
      return new Response("slow");
    });
    const handle = world.client.subject.getOrCreate(["a"]);
    await handle.status();
    await world.advance("10 days");
    expect(await handle.status()).toBe("completed");
  });

  test("an action that takes 100 turns, though its timeout is set", async () => {
    const slow = actor({ state: {}, actions: { work: () => turns(100).then(() => "done") } });
    await using world = await testWorld(setup({ use: { slow } }));
    const answer = world.client.slow.getOrCreate(["a"]).work();
    await world.advance("1 day");
    expect(await answer).toBe("done");
  });

  // Code that may wait for ever, and code beside a wait, count only while something real is open.
  const SLOW = "https://slow.example.com/";
  const KEY = new TextEncoder().encode("key");
  const derive = async (): Promise<unknown> => {
    const key = await crypto.subtle.importKey("raw", KEY, "PBKDF2", false, ["deriveBits"]);
    return crypto.subtle.deriveBits({ name: "PBKDF2", hash: "SHA-512", salt: KEY, iterations: 50_000 }, key, 256);
  };
  test.each([
    ["cryptography", derive, undefined],
    ["a request", () => fetch(SLOW), () => new Promise((resolve) => void setTimeout(resolve, 20, "slow"))],
  ])("%s of a run handler, of what keeps an actor awake, and beside a wait", async (_, work, answer) => {
    const took: string[] = [];
    const timed = async (who: string): Promise<void> => {
      const before = Date.now();
      await work();
      took.push(`${who}: ${Date.now() - before} ms`);
    };
    const working = actor({
      state: {},
      queues: { jobs: queue<string>() },
      options: { actionTimeout: 3_600_000 },
      run: () => timed("run").then(() => new Promise(() => {})),
      actions: {
        wake: (c) => void c.keepAwake(timed("keepAwake")),
        both: (c) => Promise.all([c.queue.next({ names: ["jobs"], timeout: 60_000 }), timed("beside")]),
      },
    });
    await using world = await testWorld(setup({ use: { working } }));
    if (answer) world.fetch.on(SLOW, answer);
    const subject = world.client.working.getOrCreate(["a"]);
    const called = [subject.wake(), subject.both()];
    await world.advance("1 day");
    await Promise.all(called);
    expect(took.sort()).toEqual(["beside: 0 ms", "keepAwake: 0 ms", "run: 0 ms"]);
  });

  test("a workflow that awaits something real outside of its steps", async () => {
    const outside = actor({
      state: {},
      run: workflow(async (ctx) => {
        const winner = await ctx.race("first", [
          { name: "code", run: () => turns(200).then(() => "code") },
          { name: "time", run: (branch) => branch.sleep("long", 60_000).then(() => "time") },
        ]);
        return winner.value;
      }),
      actions: { output: (c) => c.workflow.status() },
    });
    await using world = await testWorld(setup({ use: { outside } }));
    const subject = world.client.outside.getOrCreate(["a"]);
    await subject.output();
    await world.advance("1 day");
    expect(await subject.output()).toMatchObject({ status: "completed", output: "code" });
  });

  // Each takes sixty turns of the event loop, and none of the time of the world.
  test("hooks, scheduled actions and what keeps an actor awake", async () => {
    const heard: string[] = [];
    let now = (): number => 0;
    const took = async (name: string): Promise<void> => {
      const before = now();
      await turns(60);
      heard.push(`${name}: ${now() - before} ms`);
    };
    const hooked = actor({
      createState: async () => (await took("createState"), {}),
      onCreate: () => took("onCreate"),
      onWake: () => took("onWake"),
      onBeforeConnect: () => took("onBeforeConnect"),
      onConnect: () => took("onConnect"),
      onRequest: async () => (await took("onRequest"), new Response("answer")),
      actions: {
        plan: async (c) => {
          await c.schedule.after(1_000, "later");
          void c.keepAwake(took("keepAwake"));
        },
        later: () => took("later"),
      },
    });
    await using world = await testWorld(setup({ use: { hooked } }));
    now = () => world.now();
    const subject = world.client.hooked.getOrCreate(["a"]);
    const planned = subject.plan();
    const answered = subject.fetch("/");
    await world.advance("1 day");
    await Promise.all([planned, answered]);
    expect(heard.map((line) => line.split(":")[1])).toEqual(heard.map(() => " 0 ms"));
    expect(new Set(heard.map((line) => line.split(":")[0]))).toEqual(
      new Set(["createState", "onCreate", "onWake", "onBeforeConnect", "onConnect", "onRequest", "keepAwake", "later"]),
    );
  });

  test("a run handler that works between two messages", async () => {
    const handler = actor({
      state: { seen: [] as string[] },
      queues: { jobs: queue<string>() },
      run: async (c) => {
        for (;;) {
          const message = await c.queue.next({ names: ["jobs"], timeout: 60_000 });
          await turns(50);
          c.state.seen.push(message?.body ?? "none");
        }
      },
      options: { sleepTimeout: 86_400_000 * 100 },
      actions: { seen: (c) => c.state.seen },
    });
    await using world = await testWorld(setup({ use: { handler } }));
    const subject = world.client.handler.getOrCreate(["a"]);
    await subject.send("jobs", "first");
    await world.advance("2m 30s");
    expect(await subject.seen()).toEqual(["first", "none", "none"]);
  });

  test("real work beside a wait for a message", async () => {
    const both = actor({
      state: {},
      queues: { jobs: queue<string>() },
      actions: {
        first: (c) =>
          Promise.race([
            c.queue.next({ names: ["jobs"], timeout: 1_000 }).then(() => "virtual"),
            new Promise((resolve) => void setTimeout(() => resolve("real"), 20)),
          ]),
      },
      options: { actionTimeout: 3_600_000 },
    });
    await using world = await testWorld(setup({ use: { both } }));
    expect(await world.client.both.getOrCreate(["a"]).first()).toBe("real");
  });
});

describe("time passes while code", () => {
  test("waits for a message", async () => {
    const waiting = actor({
      state: {},
      queues: { jobs: queue<string>() },
      options: { actionTimeout: 3_600_000 },
      actions: { wait: async (c) => (await c.queue.next({ names: ["jobs"], timeout: 600_000 })) ?? "nothing" },
    });
    await using world = await testWorld(setup({ use: { waiting } }));
    const before = world.now();
    expect(await world.client.waiting.getOrCreate(["a"]).wait()).toBe("nothing");
    expect(world.now() - before).toBe(600_000);
  });

  test("waits for another actor, which waits for a message", async () => {
    const far = actor({
      state: {},
      queues: { jobs: queue<string>() },
      options: { actionTimeout: 3_600_000 },
      actions: {
        wait: async (c) => (await c.queue.next({ names: ["jobs"], timeout: 60_000 })) ?? "nothing",
        ask: (c): Promise<unknown> => c.client<any>().far.getOrCreate(["b"]).wait(),
      },
    });
    await using world = await testWorld(setup({ use: { far } }));
    expect(await world.client.far.getOrCreate(["a"]).ask()).toBe("nothing");
  });

  test("of a run handler waits for the end of its actor", async () => {
    const living = actor({
      state: {},
      run: (c) => new Promise<void>((resolve) => c.abortSignal.addEventListener("abort", () => resolve())),
      actions: { get: () => "there" },
    });
    await using world = await testWorld(setup({ use: { living } }));
    const subject = world.client.living.getOrCreate(["a"]);
    await subject.get();
    const before = world.now();
    await world.advance("1h");
    expect(world.now() - before).toBe(3_600_000);
  });

  test("is kept awake by something that does nothing", async () => {
    const idle = actor({
      state: {},
      actions: { rest: (c) => void c.keepAwake(new Promise(() => {})), get: () => "there" },
    });
    await using world = await testWorld(setup({ use: { idle } }));
    const subject = world.client.idle.getOrCreate(["a"]);
    await subject.rest();
    await world.advance("1h");
    expect(await subject.get()).toBe("there");
  });

  test("waits for an answer of the outside that never comes, until its step times out", async () => {
    const url = "https://api.example.com/charges";
    await using world = await testWorld(setup({ use: { subject: stepping(() => fetch(url), { timeout: 30_000 }) } }));
    const hanging = world.fetch.hangs(url);
    const subject = world.client.subject.getOrCreate(["a"]);
    await subject.status();
    await world.advance(29_999);
    expect(await subject.status()).toBe("running");
    await world.advance(1);
    expect(await subject.status()).toBe("failed");
    expect(hanging.calls()).toHaveLength(1);
  });

  test("stands for nothing any more, because its process died", async () => {
    await using world = await testWorld(setup({ use: { subject: stepping(() => new Promise(() => {})) } }));
    const subject = world.client.subject.getOrCreate(["a"]);
    await subject.status();
    await world.end();
  });
});

describe("a call that waits", () => {
  const replier = actor({
    state: {},
    queues: { approvals: queue<string, string>() },
    run: workflow(async (ctx) => {
      const message = await ctx.queue.next("wait", { names: ["approvals"], completable: true });
      await ctx.sleep("think", 3 * 86_400_000);
      await message?.complete("yes");
    }),
    actions: { status: async (c) => (await c.workflow.status()).status },
  });

  test.each(["json", "cbor", "bare"] as const)("needs no help: time skips to its reply, in %s", async (encoding) => {
    await using world = await testWorld(setup({ use: { replier } }), { encoding });
    const before = world.now();
    const subject = world.client.replier.getOrCreate(["a"]);
    const reply = await subject.send("approvals", "go", { wait: true, timeout: 86_400_000 });
    expect(reply).toEqual({ status: "timedOut" });
    expect(world.now() - before).toBe(86_400_000);
  });

  test("that nothing answers is told, with what is to come", async () => {
    await using world = await testWorld(setup({ use: { replier } }), { skipTime: false, startAt: 0 });
    const call = world.client.replier.getOrCreate(["a"]).send("approvals", "go", { wait: true, timeout: 60_000 });
    const [{ message }] = (await once(process, "warning")) as [Error];
    expect(message).toMatch(
      /^A call of the test waits. Nothing of the world runs before 1970-01-01T00:00:\d\d.000Z, and time does not skip by itself$/,
    );
    expect(await world.until(call)).toEqual({ status: "timedOut" });
  });

  test("needs help with skipTime: false", async () => {
    await using world = await testWorld(setup({ use: { replier } }), { skipTime: false });
    const before = world.now();
    const reply = world.client.replier.getOrCreate(["a"]).send("approvals", "go", { wait: true, timeout: 60_000 });
    await turns(100);
    expect(world.now()).toBe(before);
    await world.advance(59_999);
    expect(world.now()).toBe(before + 59_999);
    expect(await world.until(reply)).toEqual({ status: "timedOut" });
    expect(world.now()).toBeGreaterThanOrEqual(before + 60_000);
  });
});

test("a call of the test is not overtaken while it reads what it sends", async () => {
  const upload = actor({
    state: {},
    actions: { remind: (c) => c.schedule.after(1_000, "noop"), noop: () => {} },
    onRequest: async (_c, request) => new Response(String((await request.formData()).get("text"))),
  });
  await using world = await testWorld(setup({ use: { upload } }));
  const subject = world.client.upload.getOrCreate(["a"]);
  await subject.remind();
  const before = world.now();
  const body = new FormData();
  body.set("text", "hello");
  body.set("file", new Blob(["x".repeat(200_000)]), "x.txt");
  expect(await (await subject.fetch("/", { method: "POST", body })).text()).toBe("hello");
  expect(world.now()).toBe(before);
});

describe("the clock", () => {
  const quiet = setup({ use: { nobody: actor({ state: {}, actions: {} }) } });

  test("moves by what people write", async () => {
    await using world = await testWorld(quiet, { startAt: 0 });
    for (const duration of ["3 days", "90s", "1h 30m", "1.5 min", "2 weeks", 250, "0s"]) await world.advance(duration);
    expect(world.now()).toBe(259_200_000 + 90_000 + 5_400_000 + 90_000 + 1_209_600_000 + 250);
  });

  test.each([
    [-1, "does not go backwards"],
    [Number.NaN, "must be a number of milliseconds"],
    [Number.POSITIVE_INFINITY, "must be a number of milliseconds"],
    ["soon", "not soon"],
    ["-3 days", "not -3 days"],
    ["", "not "],
    ["3 days and more", "not 3 days and more"],
    [undefined, "not undefined"],
    [1n, "not 1"],
    ["9999999999999 weeks", "one that a Date can hold"],
    [8.64e15, "one that a Date can hold"],
  ])("refuses %s, and stays where it is", async (duration, message) => {
    await using world = await testWorld(quiet, { startAt: 5 });
    await expect(world.advance(duration as number)).rejects.toThrow(TypeError);
    await expect(world.advance(duration as number)).rejects.toThrow(message);
    expect(world.now()).toBe(5);
  });

  test("of one world is not that of another", async () => {
    await using first = await testWorld(quiet, { startAt: 1_000 });
    await using second = await testWorld(quiet, { startAt: 2_000 });
    await Promise.all([first.advance(10), second.advance(20)]);
    expect([first.now(), second.now()]).toEqual([1_010, 2_020]);
  });

  test("moves for one after the other", async () => {
    await using world = await testWorld(quiet, { startAt: 0 });
    await Promise.all([world.advance("1s"), world.advance("2s"), world.idle()]);
    expect(world.now()).toBe(3_000);
  });
});

describe("a world that has ended", () => {
  test("says so", async () => {
    const world = await testWorld(setup({ use: { subject: stepping(() => "done") } }));
    const subject = world.client.subject.getOrCreate(["a"]);
    await world.end();
    await world.end();
    const ended = "this world has ended; make another with testWorld()";
    await expect(world.advance(1)).rejects.toThrow(ended);
    await expect(world.idle()).rejects.toThrow(ended);
    await expect(world.until(Promise.resolve())).rejects.toThrow(ended);
    expect(() => world.createClient()).toThrow(ended);
    await expect(subject.status()).rejects.toThrow(ended);
    await expect(subject.connect().status()).rejects.toThrow(ended);
  });

  test("told after two seconds in which nothing moved what it waited for", async () => {
    const world = await testWorld(setup({ use: { subject: stepping(() => new Promise(() => {})) } }));
    await world.client.subject.getOrCreate(["a"]).status();
    const idle = world.idle();
    const [warning] = await once(process, "warning");
    expect(warning).toMatchObject({
      name: "PerdureTestingWarning",
      message:
        'world.idle() waits. Time stands still because this code still runs: step "work" (attempt 1) of subject ["a"]',
    });
    const failed = expect(idle).rejects.toThrow("This world has ended while world.idle() waited");
    await world.end();
    await failed;
  });

  test("tells what still ran of it", async () => {
    const world = await testWorld(setup({ use: { subject: stepping(() => new Promise(() => {})) } }));
    await world.client.subject.getOrCreate(["a"]).status();
    const moved = world.advance("1 day");
    const failed = expect(moved).rejects.toThrow(
      'This world has ended while world.advance("1 day") waited. Time stands still because this code still runs: ' +
        'step "work" (attempt 1) of subject ["a"]',
    );
    await turns(20);
    await world.end();
    await failed;
  });
});

test.each([[null], [undefined], [{}], [{ ...setup({ use: {} }) }]])("%j is no registry", async (registry) => {
  await expect(testWorld(registry as never)).rejects.toThrow("testWorld(): the registry must be one that setup() made");
});

describe("an option of testWorld", () => {
  const registry = setup({ use: {} });
  test.each([
    [{ speed: 2 }, 'testWorld(): testWorld has no option "speed"'],
    [{ encoding: "xml" }, "testWorld(): encoding must be json, cbor or bare"],
    [{ startAt: "never" }, "testWorld(): startAt must be a time"],
    [{ startAt: null }, "testWorld(): startAt must be a time"],
    [{ startAt: 9e15 }, "testWorld(): startAt must be a time"],
    [{ startAt: -1 }, "testWorld(): startAt: the time must be of 1970 or later"],
    [{ skipTime: 1 }, "testWorld(): skipTime must be true or false"],
    [{ onLog: "console" }, "testWorld(): onLog must be a function"],
    [{ env: "x" }, "testWorld(): env must be an object"],
    [null, "testWorld(): The options of testWorld must be an object"],
  ])("that is wrong is refused by name: %j", async (options, message) => {
    await expect(testWorld(registry, options as never)).rejects.toThrow(message);
    await expect(testWorld(registry, options as never)).rejects.toThrow(TypeError);
  });
});
