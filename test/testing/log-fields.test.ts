import { describe, expect, it } from "vitest";
import { actor, workflow } from "../../src/actor/index.js";
import { encodeValue } from "../../src/protocol/index.js";
import { single } from "../actor/subject.js";

// Each line names the actor and its key, and what ran: the action, the hook, the step.

const WHO = { actor: "subject", key: ["k"], actorId: expect.stringMatching(/^[\da-f]{64}-/) as unknown };
/** When the run began: at the start of the world's clock. */
const RUN = { run: 1_700_000_000_000 };

describe("the log", () => {
  it("of user code says which actor, action, hook and step", async () => {
    const { subject, log } = single(
      actor({
        onWake: (c) => c.log.info("awake"),
        run: workflow(async (ctx) => {
          await ctx.step("charge", (step) => step.log.info({ msg: "charging", amount: 5 }));
        }),
        actions: {
          pay: (c) => {
            c.log.info("paying");
            c.log.child({ order: 7 }).child({ attempt: 2 }).warn({ msg: "again", order: 8 });
          },
        },
      }),
    );
    await subject.call("pay");
    const lines = log.map(({ level, entry }) => ({ level, ...entry }));
    expect(lines).toContainEqual({ level: "info", ...WHO, hook: "onWake", msg: "awake" });
    expect(lines).toContainEqual({
      level: "info",
      ...WHO,
      ...RUN,
      step: "charge",
      attempt: 1,
      msg: "charging",
      amount: 5,
    });
    expect(lines).toContainEqual({ level: "info", ...WHO, action: "pay", msg: "paying" });
    expect(lines).toContainEqual({ level: "warn", ...WHO, action: "pay", order: 8, attempt: 2, msg: "again" });
  });

  it("of each hook says which", async () => {
    const say = (answer?: unknown) => (c: { readonly log: { info(text: string): void } }) => {
      c.log.info("here");
      return answer;
    };
    const { subject, world, log } = single(
      actor({
        createState: say({ n: 0 }),
        canCreate: say(true),
        createVars: say({}),
        createConnState: say({}),
        onMigrate: say(),
        onCreate: say(),
        onWake: say(),
        onBeforeConnect: say(),
        onConnect: say(),
        onDisconnect: say(),
        onStateChange: say(),
        onBeforeActionResponse: (
          c: { readonly log: { info(text: string): void } },
          _name: string,
          _args: unknown,
          output: unknown,
        ) => say(output)(c),
        onRequest: say(new Response("served")),
        onWebSocket: say(),
        onDestroy: say(),
        events: { news: { canSubscribe: say(true) } },
        queues: { jobs: { canPublish: say(true) } },
        run: workflow(
          async (ctx) => {
            await ctx.step({ name: "fail", maxRetries: 0, run: () => Promise.reject(new Error("no")) });
          },
          { onError: say() },
        ),
        actions: {
          add: (c: { state: { n: number } }) => (c.state.n += 1),
          end: (c: { destroy(): void }) => c.destroy(),
        },
      } as never),
    );
    await subject.call("add");
    await subject.send({ mode: "get" }, { kind: "send", queue: "jobs", body: encodeValue(1) });
    await (await subject.fetch("/")).text();
    await subject.connect({ raw: true });
    const socket = await subject.connect();
    await socket.subscribe("news");
    await world.settle();
    await subject.call("end");
    await world.settle();
    const hooks = new Set(log.filter(({ entry }) => entry["msg"] === "here").map(({ entry }) => entry["hook"]));
    expect([...hooks].map(String).sort()).toEqual([
      "canCreate",
      "canPublish",
      "canSubscribe",
      "createConnState",
      "createState",
      "createVars",
      "onBeforeActionResponse",
      "onBeforeConnect",
      "onConnect",
      "onCreate",
      "onDestroy",
      "onDisconnect",
      "onError",
      "onMigrate",
      "onRequest",
      "onStateChange",
      "onWake",
      "onWebSocket",
    ]);
    const idle = single(actor({ run: say() as never, onSleep: say() as never, actions: { nap: (c) => c.sleep() } }));
    await idle.subject.call("nap");
    await idle.world.settle();
    expect(idle.log.filter(({ entry }) => entry["msg"] === "here").map(({ entry }) => entry["hook"])).toEqual([
      "run",
      "onSleep",
    ]);
  });

  it("tells a failed step and workflow with their stacks, and those of causes, and nothing of their metadata", async () => {
    const { subject, log } = single(
      actor({
        run: workflow(async (ctx) => {
          await ctx.step({
            name: "charge",
            maxRetries: 0,
            run: () => {
              throw Object.assign(new Error("declined", { cause: new TypeError("no such card") }), {
                metadata: { secret: "4242" },
              });
            },
          });
        }),
        actions: { status: (c) => c.workflow.status().status },
      }),
    );
    expect(await subject.call("status")).toBe("failed");
    const [step, failed] = ["A step failed", "A workflow failed"].map(
      (msg) => log.find(({ entry }) => entry["msg"] === msg)?.entry,
    );
    expect(step).toMatchObject({ ...WHO, ...RUN, step: "charge", attempt: 1, ms: 0 });
    expect(step?.["stack"]).toMatch(/^Error: declined\n {4}at [^]*\nCaused by: TypeError: no such card\n {4}at /);
    expect(failed).toMatchObject({ ...WHO, ...RUN, ms: 0 });
    expect(failed?.["stack"]).toMatch(/declined[^]*\n {4}at /);
    expect(JSON.stringify(log)).not.toContain("4242");
  });

  it("of a call that failed says which action; a step that made it says under which id it was logged", async () => {
    const { subject, world, log } = single(
      actor({
        run: workflow(async (ctx) => {
          if (ctx.key[0] !== "k") return;
          await ctx.step({
            name: "ask",
            maxRetries: 0,
            run: (step) => step.client().subject.getOrCreate(["other"]).fail(),
          });
        }),
        actions: {
          fail: () => {
            throw new Error("a secret");
          },
          status: (c) => c.workflow.status().status,
        },
      }),
    );
    await subject.call("status");
    await world.settle();
    expect(await subject.call("status")).toBe("failed");
    const lines = log.map(({ entry }) => entry);
    const other = lines.find(({ msg }) => msg === "A call failed with an internal error");
    expect(other).toMatchObject({
      actor: "subject",
      key: ["other"],
      action: "fail",
      ms: 0,
      stack: expect.stringContaining("a secret"),
    });
    const own = lines.find(({ msg }) => msg === "A step failed");
    expect(own).toMatchObject({ ...WHO, ...RUN, step: "ask", attempt: 1 });
    expect(own?.["stack"]).toContain(`errorId ${String(other?.["errorId"])}`);
  });

  it("says of sleeps, evictions and retries nothing above debug, and of a terminal failure one line at error", async () => {
    let fails = 2;
    const { subject, world, log } = single(
      actor({
        onSleep: () => {},
        run: workflow(async (ctx) => {
          ctx.log.info("begun");
          await ctx.step({
            name: "charge",
            retryBackoffBase: 1_000,
            retryBackoffMax: 1_000,
            run: () => {
              if ((fails -= 1) >= 0) throw new Error("502");
            },
          });
          await ctx.sleep("rest", 60_000);
          await ctx.step({ name: "ship", maxRetries: 0, run: () => Promise.reject(new Error("no truck")) });
        }),
        actions: { nap: (c) => c.sleep(), status: (c) => c.workflow.status().status },
      }),
    );
    await subject.call("nap");
    for (let n = 0; n < 4; n++) {
      await world.pass(1_000);
      await world.settle();
      await subject.evict();
    }
    const loud = () =>
      log
        .filter(({ level }) => level !== "debug" && level !== "trace")
        .map(({ level, entry }) => [level, entry["msg"]]);
    expect(loud()).toEqual([["info", "begun"]]);
    expect(log.filter(({ entry }) => entry["msg"] === "A step failed")).toMatchObject([
      { level: "debug", entry: { step: "charge", attempt: 1, willRetry: true } },
      { level: "debug", entry: { step: "charge", attempt: 2, willRetry: true } },
    ]);
    await world.pass(60_000);
    await world.settle();
    expect(await subject.call("status")).toBe("failed");
    await subject.evict();
    expect(await subject.call("status")).toBe("failed");
    expect(loud()).toEqual([
      ["info", "begun"],
      ["warn", "A step failed"],
      ["error", "A workflow failed"],
    ]);
    expect(log.find(({ level }) => level === "error")?.entry).toMatchObject({ ...WHO, ...RUN, ms: expect.any(Number) });
  });
});
