import { describe, expect, it } from "vitest";
import { actor, setup, workflow } from "../../../src/actor/index.js";
import {
  decodeValue,
  encodeValue,
  ENVELOPE_VERSION,
  parseActorId,
  type ReplyEnvelope,
} from "../../../src/protocol/index.js";
import type { CommitFault, World, WorldActor } from "../../../src/testing/index.js";
import { testWorld } from "../../support/test-world.js";
import { single, type Single } from "../subject.js";

const GET = { kind: "action", name: "get", args: encodeValue([]) } as const;

/** An actor that can be destroyed, and the destructions that its hook saw. */
function mortal(fault?: CommitFault): Single & { ends: string[] } {
  const ends: string[] = [];
  const made = single(
    actor({
      createState: () => ({ n: 0 }),
      onDestroy: async (c) => {
        ends.push(`${c.name} ${c.key.join()} with ${c.state.n}`);
        await new Promise((resolve) => setImmediate(resolve));
      },
      actions: {
        get: (c) => c.state.n,
        add: (c) => (c.state.n += 1),
        plan: (c) => c.schedule.after(3_600_000, "add"),
        send: (c) => c.queue.send("in", 1).then(() => undefined),
        destroy: (c) => {
          c.state.n += 10;
          c.destroy();
          return c.state.n;
        },
        twice: (c) => {
          c.destroy();
          try {
            c.destroy();
          } catch (error) {
            return (error as { code: string }).code;
          }
          return "no error";
        },
      },
    }),
    fault ? { fault: (_actor, commit) => fault(commit) } : {},
  );
  return { ...made, ends };
}

async function ended(world: World): Promise<void> {
  await world.settle();
  await world.settle();
}

describe("destroy", () => {
  it("lets the action that asks for it finish and answer, runs onDestroy, and deletes everything (A50)", async () => {
    const { world, subject, ends } = mortal();
    await subject.call("plan");
    await subject.call("send");
    expect(await subject.call("destroy")).toBe(10);
    await ended(world);
    expect(ends).toEqual(["subject k with 10"]);
    expect(subject.store.keys).toEqual([]);
    expect(subject.store.alarmAt).toBe(null);
    expect(subject.timersHeld).toBe(0);
    await world.passUntilQuiet();
    expect(ends).toHaveLength(1);
    expect(subject.store.keys).toEqual([]);
  });

  it("is refused the second time as stopping", async () => {
    const { subject } = mortal();
    expect(await subject.call("twice")).toBe("stopping");
  });

  it("makes `get` find nothing, and the next creation another actor with fresh state (A50)", async () => {
    const { world, subject } = mortal();
    await subject.call("add");
    const before = await subject.send({ mode: "get" }, { kind: "resolve" });
    await subject.call("destroy");
    await ended(world);
    expect(await subject.send({ mode: "get" }, GET)).toMatchObject({
      ok: false,
      status: 404,
      error: { group: "actor", code: "not_found" },
    });
    expect(await subject.call("get")).toBe(0);
    const after = await subject.send({ mode: "get" }, { kind: "resolve" });
    if (!before.ok || !after.ok) throw new Error("both lives were expected to answer");
    expect(after.actorId).not.toBe(before.actorId);
    expect(after.actorId.slice(0, 64)).toBe(before.actorId.slice(0, 64));
    expect(parseActorId(after.actorId)?.generation).not.toBe(parseActorId(before.actorId)?.generation);
  });

  it("makes the old id unknown, also once the key has a new life", async () => {
    const { world, subject } = mortal();
    const old = await subject.send({ mode: "getOrCreate" }, { kind: "resolve" });
    const generation = old.ok ? parseActorId(old.actorId)?.generation : undefined;
    if (generation === undefined) throw new Error("the actor was expected to answer");
    const byOldId = () =>
      subject.deliver({
        v: ENVELOPE_VERSION,
        address: { name: "", key: [], generation },
        creation: { mode: "get" },
        operation: GET,
      });
    expect(await byOldId()).toMatchObject({ ok: true });
    await subject.call("destroy");
    await ended(world);
    expect(await byOldId()).toMatchObject({ ok: false, status: 404, error: { code: "not_found" } });
    expect(subject.store.keys, "asking by id creates nothing").toEqual([]);
    await subject.call("add");
    const answer = await byOldId();
    expect(answer).toMatchObject({ ok: false, status: 404, error: { code: "not_found" } });
    expect(answer.ok || answer.error.actor, "nor does it tell the new life's id and key").toBeUndefined();
    expect(await subject.call("get")).toBe(1);
  });

  it("serves a call that comes while it goes on from the next life", async () => {
    const { world, subject, ends } = mortal();
    await subject.call("add");
    const destroyed = subject.call("destroy");
    const next = subject.call("get");
    expect(await destroyed).toBe(11);
    expect([0, 1, 11]).toContain(await next);
    await ended(world);
    expect(ends).toEqual(["subject k with 11"]);
  });

  it("is what its step asks for: the step ends, the workflow never goes on, and its deadlines go", async () => {
    const ran: string[] = [];
    const { world, subject } = single(
      actor({
        state: { n: 0 },
        run: workflow(async (ctx) => {
          await ctx.step("first", () => void ran.push("first"));
          await ctx.step("destroys", (step) => {
            step.destroy();
            ran.push("destroys");
          });
          ran.push("goes on");
          await ctx.sleep("pause", 1_000);
        }),
        onDestroy: () => void ran.push("onDestroy"),
        actions: { get: () => {} },
      }),
    );
    await subject.call("get").catch(() => {});
    await ended(world);
    expect(ran).toEqual(["first", "destroys", "onDestroy"]);
    expect(subject.store.keys).toEqual([]);
    expect(subject.store.alarmAt).toBe(null);
    await world.passUntilQuiet();
    expect(ran).toHaveLength(3);
  });

  it("is what a scheduled action asks for", async () => {
    const { world, subject } = single(
      actor({
        state: 1,
        actions: { plan: (c) => c.schedule.after(1_000, "end"), end: (c) => c.destroy() },
      }),
    );
    await subject.call("plan");
    await world.pass(1_000);
    await ended(world);
    expect(subject.store.keys).toEqual([]);
    expect(subject.store.alarmAt).toBe(null);
  });

  it("is what a run handler asks for, which may go on for ever: it sees that it was aborted", async () => {
    const seen: string[] = [];
    const { world, subject } = single(
      actor({
        state: 1,
        run: async (c) => {
          await world.clock.delay(1_000);
          c.destroy();
          while (!c.aborted) await world.clock.delay(10);
          seen.push("aborted");
        },
        onDestroy: () => void seen.push("onDestroy"),
        actions: { touch: () => {} },
      }),
    );
    await subject.call("touch");
    await world.pass(2_000);
    expect(seen.sort()).toEqual(["aborted", "onDestroy"]);
    expect(subject.store.keys).toEqual([]);
    expect(subject.store.alarmAt).toBe(null);
  });

  it("ends a workflow that waits: its operation rejects, and code after it changes nothing", async () => {
    const seen: unknown[] = [];
    const { world, subject } = single(
      actor({
        state: { n: 0 },
        run: workflow(async (ctx) => {
          try {
            await ctx.sleep("long", 3_600_000);
          } catch (error) {
            seen.push((error as { code: string }).code, ctx.abortSignal.aborted);
          } finally {
            await ctx
              .step("too late", () => seen.push("ran"))
              .catch((error: { code: string }) => seen.push(error.code));
          }
        }),
        actions: { destroy: (c) => c.destroy() },
      }),
    );
    await subject.call("destroy");
    await ended(world);
    expect(seen).toEqual(["evicted", true, "evicted"]);
    await world.passUntilQuiet();
    expect(subject.store.keys).toEqual([]);
  });

  it("goes on when onDestroy throws, and says so", async () => {
    const { world, subject, log } = single(
      actor({ state: 1, onDestroy: () => Promise.reject(new Error("no")), actions: { destroy: (c) => c.destroy() } }),
    );
    await subject.call("destroy");
    await ended(world);
    expect(subject.store.keys).toEqual([]);
    expect(log.some(({ level, entry }) => level === "error" && String(entry["msg"]).includes("onDestroy"))).toBe(true);
  });

  it("does not wait longer than fifteen seconds for onDestroy", async () => {
    const { world, subject } = single(
      actor({ state: 1, onDestroy: () => new Promise<void>(() => {}), actions: { destroy: (c) => c.destroy() } }),
    );
    await subject.call("destroy");
    await world.turn();
    world.clock.moveTo(world.clock.now() + 14_999);
    expect(world.clock.fireNext()).toBe(false);
    expect(subject.store.keys).toContain("a");
    world.clock.moveTo(world.clock.now() + 1);
    expect(world.clock.fireNext()).toBe(true);
    await world.turn();
    await ended(world);
    expect(subject.store.keys).toEqual([]);
    expect(subject.store.alarmAt).toBe(null);
  });

  it("ends wherever the object dies in it, with no call from outside, and onDestroy runs at least once", async () => {
    const undisturbed = mortal();
    await undisturbed.subject.call("add");
    await undisturbed.subject.call("destroy");
    await ended(undisturbed.world);
    const { commits } = undisturbed.subject.store;
    expect(commits).toBeGreaterThanOrEqual(3);
    let tombstones = 0;
    for (let at = 2; at <= commits; at += 1) {
      for (const kind of ["crash-before", "crash-after"] as const) {
        const { world, subject, ends } = mortal((commit) => (commit === at ? kind : undefined));
        await subject.call("add");
        const asked = await subject.call("destroy").then(
          () => true,
          () => false,
        );
        const isMarked = asked || subject.store.alarmAt !== null;
        if (isMarked) tombstones += 1;
        await world.passUntilQuiet();
        if (!isMarked) await subject.call("destroy");
        await ended(world);
        await world.passUntilQuiet();
        expect(subject.store.keys, `${kind} ${at}`).toEqual([]);
        expect(subject.store.alarmAt, `${kind} ${at}`).toBe(null);
        expect(ends.length, `${kind} ${at}`).toBeGreaterThanOrEqual(1);
        expect(await subject.call("get"), `${kind} ${at}: a new life`).toBe(0);
      }
    }
    expect(tombstones).toBeGreaterThan(0);
  });

  it("is taken up by the next call when it was cut off, and that call finds nothing of the old life", async () => {
    const { subject, ends } = mortal((commit) => (commit === 3 ? "crash-after" : undefined));
    await subject.call("add");
    await subject.call("destroy").catch(() => {});
    // The creation with the action, the last changes, and the tombstone: at the end of that turn the object dies.
    expect(subject.crashes).toBe(1);
    expect(subject.store.keys).toContain("a");
    expect(await Promise.all([subject.call("get"), subject.call("get")])).toEqual([0, 0]);
    // Once in the life that died, and once for both calls.
    expect(ends).toHaveLength(2);
  });

  it("tells calls that are still running that the actor was destroyed", async () => {
    const { world, subject } = single(
      actor({
        actions: {
          hang: () => new Promise<void>(() => {}),
          destroy: (c) => c.destroy(),
        },
      }),
    );
    await subject.call("destroy").catch(() => {});
    await ended(world);
    const hanging = subject.call("hang").then(
      () => "answered",
      (error: { group: string; code: string; statusCode: number }) =>
        `${error.group}/${error.code} ${error.statusCode}`,
    );
    await world.turn();
    await subject.call("destroy");
    await ended(world);
    expect(await hanging).toBe("actor/destroyed 404");
  });

  it("runs onDestroy once when an action asks for it while a step runs, which is cut off", async () => {
    const seen: string[] = [];
    const { world, subject } = single(
      actor({
        state: 1,
        run: workflow((ctx) => ctx.step("hangs", () => new Promise<void>(() => {}))),
        onDestroy: async () => {
          seen.push("onDestroy");
          await new Promise((resolve) => setImmediate(resolve));
          seen.push("is over");
        },
        actions: { touch: () => {}, destroy: (c) => c.destroy() },
      }),
    );
    await subject.call("touch");
    await subject.call("destroy");
    await ended(world);
    expect(seen).toEqual(["onDestroy", "is over"]);
    expect(subject.store.keys).toEqual([]);
    await subject.call("touch");
    await ended(world);
    expect(seen, "the next life is left alone").toHaveLength(2);
    expect(subject.store.keys).toContain("a");
  });

  it("waits for the action that asked for it, whatever other callbacks end meanwhile", async () => {
    const seen: string[] = [];
    const { world, subject } = single(
      actor({
        state: { n: 0 },
        onDestroy: (c) => void seen.push(`onDestroy with ${c.state.n}`),
        actions: {
          destroy: async (c) => {
            c.destroy();
            await world.clock.delay(1_000);
            c.state.n += 1;
            seen.push("the action is over");
            return "bye";
          },
          touch: (c) => void c.keepAwake(Promise.resolve()),
          plan: (c) => c.schedule.after(500, "touch"),
        },
      }),
    );
    await subject.call("plan");
    const destroyed = subject.call("destroy");
    await subject.call("touch");
    await world.pass(2_000);
    expect(await destroyed).toBe("bye");
    await ended(world);
    expect(seen).toEqual(["the action is over", "onDestroy with 1"]);
    expect(subject.store.keys).toEqual([]);
  });

  it("waits for the step that asked for it, whatever other callbacks end meanwhile", async () => {
    const seen: string[] = [];
    const { world, subject } = single(
      actor({
        state: { n: 0 },
        run: workflow((ctx) =>
          ctx.step("destroys", async (step) => {
            step.destroy();
            await world.clock.delay(1_000);
            (step.state as { n: number }).n += 1;
            seen.push("the step is over");
          }),
        ),
        onDestroy: (c) => void seen.push(`onDestroy with ${c.state.n}`),
        actions: { touch: () => {} },
      }),
    );
    await subject.call("touch");
    await subject.call("touch");
    await world.pass(2_000);
    await ended(world);
    expect(seen).toEqual(["the step is over", "onDestroy with 1"]);
    expect(subject.store.keys).toEqual([]);
  });

  it("begins with the turn when the callback that asks for it is over already", async () => {
    const { world, subject } = single(
      actor({
        state: 1,
        actions: { later: (c) => void world.clock.delay(1_000).then(() => c.destroy()), touch: () => {} },
      }),
    );
    await subject.call("later");
    expect(subject.store.keys).toContain("a");
    await world.pass(1_000);
    await ended(world);
    expect(subject.store.keys).toEqual([]);
    expect(subject.store.alarmAt).toBe(null);
  });

  it("waits for an onError that asks for it", async () => {
    const seen: string[] = [];
    const { world, subject } = single(
      actor({
        state: 1,
        run: workflow((ctx) => ctx.step({ name: "fails", maxRetries: 0, run: () => Promise.reject(new Error("no")) }), {
          onError: async (c) => {
            c.destroy();
            await world.clock.delay(1_000);
            seen.push("onError is over");
          },
        }),
        onDestroy: () => void seen.push("onDestroy"),
        actions: { touch: () => {} },
      }),
    );
    await subject.call("touch");
    await world.pass(2_000);
    await ended(world);
    expect(seen).toEqual(["onError is over", "onDestroy"]);
    expect(subject.store.keys).toEqual([]);
  });
});

describe("destroy in a hook of a caller", () => {
  // oxlint-disable-next-line typescript/no-explicit-any -- hooks of all kinds share one signature here
  type Context = any;
  const send = (subject: WorldActor): Promise<ReplyEnvelope> =>
    subject.send({ mode: "getOrCreate" }, { kind: "send", queue: "jobs", body: encodeValue(1) });

  it.each([
    "onBeforeConnect",
    "createConnState",
    "onConnect",
    "onDisconnect",
    "onBeforeActionResponse",
    "onRequest",
    "canPublish",
    "canSubscribe",
    "onStateChange",
  ])("lets %s finish, runs onDestroy once after it, and deletes everything; the next life is served", async (hook) => {
    const seen: string[] = [];
    let isArmed = false;
    const ends = (c: Context, result: unknown): unknown => {
      if (!isArmed) return result;
      isArmed = false;
      c.destroy();
      seen.push(`${hook} ${c.aborted}`);
      return result;
    };
    const at =
      (name: string, fixed?: unknown) =>
      (c: Context, ...args: unknown[]) => {
        const result = name === "onBeforeActionResponse" ? args[2] : fixed;
        return name === hook ? ends(c, result) : result;
      };
    const { world, subject } = single(
      actor({
        state: { n: 0 },
        onBeforeConnect: at("onBeforeConnect"),
        createConnState: at("createConnState", {}),
        onConnect: at("onConnect"),
        onDisconnect: at("onDisconnect"),
        onBeforeActionResponse: at("onBeforeActionResponse"),
        onRequest: at("onRequest", new Response("answer")),
        onStateChange: at("onStateChange"),
        onDestroy: () => void seen.push("onDestroy"),
        queues: { jobs: { canPublish: at("canPublish", true) } },
        events: { news: { canSubscribe: at("canSubscribe", true) } },
        actions: { get: (c: Context) => c.state.n, add: (c: Context) => (c.state.n += 1) },
      } as never) as never,
    );
    await subject.call("get");
    const socket = await subject.connect();
    await world.settle();
    isArmed = true;
    const uses: Record<string, () => Promise<unknown>> = {
      onRequest: () => subject.fetch("/"),
      canPublish: () => send(subject),
      canSubscribe: () => socket.subscribe("news"),
      onDisconnect: () => socket.hangUp(4000),
    };
    await (uses[hook] ?? (() => subject.call("add")))().catch((error: { group: string; code: string }) =>
      seen.push(`${error.group}/${error.code}`),
    );
    await ended(world);
    expect(seen.filter((each) => !each.startsWith("actor/"))).toEqual([`${hook} false`, "onDestroy"]);
    for (const told of seen.filter((each) => each.startsWith("actor/"))) expect(told).toBe("actor/destroyed");
    expect(socket.isOpen).toBe(false);
    expect([subject.store.keys, subject.store.alarmAt, subject.timersHeld]).toEqual([[], null, 0]);
    expect(await subject.call("get")).toBe(0);
  });
});

describe("destroy from outside", () => {
  it.each([0, 8])(
    "runs no action of its creator once it has destroyed the actor (%i microtasks later)",
    async (microtasks) => {
      const { world, subject, ends } = mortal();
      const added = subject.send({ mode: "getOrCreate" }, { kind: "action", name: "add", args: encodeValue([]) });
      for (let passed = 0; passed < microtasks; passed += 1) await undefined;
      const destroyed = await subject.send({ mode: "get" }, { kind: "destroy" });
      const reply = await added;
      await ended(world);
      expect(destroyed.ok).toBe(true);
      // It ran first, or not at all.
      if (reply.ok) expect(ends).toEqual(["subject k with 1"]);
      else expect([reply.error.code, ends]).toEqual(["destroyed", ["subject k with 0"]]);
      expect(subject.store.keys).toEqual([]);
    },
  );

  const destroy = (subject: WorldActor): Promise<ReplyEnvelope> => subject.send({ mode: "get" }, { kind: "destroy" });
  const NOT_FOUND = { ok: false, status: 404, error: { group: "actor", code: "not_found" } };

  it("runs onDestroy, deletes everything, and is answered when the actor cannot come back", async () => {
    const { world, subject, ends } = mortal();
    await subject.call("add");
    await subject.call("plan");
    const before = await subject.send({ mode: "get" }, { kind: "resolve" });
    const reply = await destroy(subject);
    expect(reply).toMatchObject({ ok: true, actorId: before.ok && before.actorId });
    expect(await subject.send({ mode: "get" }, GET)).toMatchObject(NOT_FOUND);
    await ended(world);
    expect(ends).toEqual(["subject k with 1"]);
    expect([subject.store.keys, subject.store.alarmAt, subject.timersHeld]).toEqual([[], null, 0]);
  });

  it("finds nothing where no actor is, and writes nothing", async () => {
    const { world, subject, ends } = mortal();
    for (const mode of ["get", "getOrCreate", "create"] as const) {
      expect(await subject.send({ mode }, { kind: "destroy" })).toMatchObject(NOT_FOUND);
    }
    expect([subject.store.commits, ends]).toEqual([0, []]);
    await subject.call("add");
    expect(await Promise.all([destroy(subject), destroy(subject)]), "both ask while it lives").toMatchObject([
      { ok: true },
      { ok: true },
    ]);
    expect(await destroy(subject)).toMatchObject(NOT_FOUND);
    await ended(world);
    expect(ends).toHaveLength(1);
  });

  it("by the id of an earlier life leaves the present one alone, and does not start it", async () => {
    const { world, subject, ends } = mortal();
    const old = await subject.send({ mode: "getOrCreate" }, { kind: "resolve" });
    await destroy(subject);
    await ended(world);
    await subject.call("add");
    const generation = parseActorId(old.ok ? old.actorId : "")?.generation ?? "";
    const byOldId = (): Promise<ReplyEnvelope> =>
      subject.deliver({
        v: ENVELOPE_VERSION,
        address: { name: "", key: [], generation },
        creation: { mode: "get" },
        operation: { kind: "destroy" },
      });
    expect(await byOldId()).toMatchObject(NOT_FOUND);
    subject.crash();
    expect(await byOldId()).toMatchObject(NOT_FOUND);
    expect(await subject.call("get")).toBe(1);
    expect(ends).toHaveLength(1);
  });

  it("does not wait for callbacks: actions, waiting senders and the workflow are told", async () => {
    const seen: string[] = [];
    const { world, subject } = single(
      actor({
        state: 1,
        run: workflow(async (ctx) => {
          await ctx.sleep("long", 3_600_000).catch((error: { code: string }) => seen.push(error.code));
        }),
        actions: {
          hang: (c) => new Promise<void>(() => c.abortSignal.addEventListener("abort", () => seen.push("aborted"))),
          asksToo: async (c) => {
            c.destroy();
            await world.clock.delay(60_000);
          },
        },
        onDestroy: () => void seen.push("onDestroy"),
      }),
    );
    const coded = (error: { group: string; code: string; statusCode: number }): string =>
      `${error.group}/${error.code} ${error.statusCode}`;
    const calls = [subject.call("hang").catch(coded), subject.call("asksToo").catch(coded)];
    await world.turn();
    const sent = await subject.send(
      { mode: "get" },
      { kind: "send", queue: "in", body: encodeValue(1), wait: true, timeoutMs: 60_000 },
    );
    const { id: messageId, createdAt } = decodeValue((sent.ok && sent.output) || new Uint8Array()) as {
      id: number;
      createdAt: number;
    };
    const waiting = subject.send({ mode: "get" }, { kind: "wait", messageId, createdAt, timeoutMs: 60_000 });
    await world.turn();
    expect(await destroy(subject)).toMatchObject({ ok: true });
    await ended(world);
    expect(await Promise.all(calls)).toEqual(["actor/destroyed 404", "actor/destroyed 404"]);
    expect(await waiting).toMatchObject({ ok: false, status: 404, error: { group: "actor", code: "destroyed" } });
    expect(seen.sort()).toEqual(["aborted", "evicted", "onDestroy"]);
    await world.passUntilQuiet();
    expect(subject.store.keys).toEqual([]);
    expect(seen).toHaveLength(3);
  });

  it("that comes while the actor is created, or starts, waits for that, and onDestroy runs once (A53)", async () => {
    for (const isNew of [true, false]) {
      const seen: string[] = [];
      const { world, subject } = single(
        actor({
          createState: () => ({ n: 5 }),
          onWake: async () => {
            seen.push("onWake begins");
            await world.clock.delay(1_000);
            seen.push("onWake ends");
          },
          onDestroy: (c) => void seen.push(`onDestroy ${c.state.n}`),
          actions: { get: (c) => c.state.n },
        }),
      );
      if (!isNew) {
        const first = subject.call("get");
        await world.pass(1_000);
        await first;
        subject.crash();
        seen.splice(0);
      }
      const call = subject.send({ mode: "getOrCreate" }, GET);
      await world.turn();
      const destroyed = destroy(subject);
      await world.pass(1_000);
      expect(await destroyed).toMatchObject({ ok: true });
      await ended(world);
      expect(seen.slice(0, 3)).toEqual(["onWake begins", "onWake ends", "onDestroy 5"]);
      // Whoever had it started is served by it or by the next life, whose start takes its time again.
      await world.pass(1_000);
      await call;
      expect(seen.filter((each) => each.startsWith("onDestroy"))).toHaveLength(1);
    }
  });

  it("ends an actor that does not start any more, with its state and without its vars", async () => {
    const seen: unknown[] = [];
    let fails = false;
    const { world, subject, log } = single(
      actor({
        state: { n: 5 },
        createVars: () => {
          if (fails) throw new Error("no vars");
          return {};
        },
        onDestroy: (c) => void seen.push(c.state.n, c.vars),
        actions: { get: (c) => c.state.n },
      }),
    );
    await subject.call("get");
    subject.crash();
    fails = true;
    await expect(subject.call("get")).rejects.toMatchObject({ statusCode: 500 });
    const [reply, meanwhile] = await Promise.all([destroy(subject), subject.send({ mode: "get" }, GET)]);
    expect(reply).toMatchObject({ ok: true });
    expect(meanwhile).toMatchObject(NOT_FOUND);
    expect(seen).toEqual([5, undefined]);
    expect(log.some(({ level, entry }) => level === "warn" && String(entry["msg"]).includes("destroyed anyway"))).toBe(
      true,
    );
    await world.passUntilQuiet();
    expect([subject.store.keys, subject.store.alarmAt]).toEqual([[], null]);
  });

  it("leaves an actor alone that the registry has no more", async () => {
    const { subject } = mortal();
    await subject.call("add");
    const other = testWorld(setup({ use: { other: actor({}) } })).actor("subject", ["k"]);
    other.store.restore(subject.store.dump());
    expect(await other.send({ mode: "get" }, { kind: "destroy" })).toMatchObject({
      ok: false,
      error: { group: "actor", code: "not_registered" },
    });
    expect(other.store.dump()).toEqual(subject.store.dump());
  });

  it("ends wherever the object dies in it, once it was answered or marked, with no other call", async () => {
    for (const kind of ["crash-before", "crash-after"] as const) {
      const { world, subject, ends } = mortal((commit) => (commit === 2 ? kind : undefined));
      await subject.call("add");
      const answered = await destroy(subject).then(
        () => true,
        () => false,
      );
      expect([answered, subject.crashes]).toEqual([false, 1]);
      const isMarked = subject.store.alarmAt !== null;
      await world.passUntilQuiet();
      if (!isMarked) {
        expect(await subject.call("get"), "nothing has happened").toBe(1);
        expect(await destroy(subject)).toMatchObject({ ok: true });
        await ended(world);
      }
      expect([subject.store.keys, subject.store.alarmAt], kind).toEqual([[], null]);
      expect(ends.length).toBeGreaterThanOrEqual(1);
    }
  });

  it("is refused as restarting when the mark cannot be written, and then nothing is lost", async () => {
    const { subject } = mortal((commit) => (commit === 2 ? "refuse" : undefined));
    await subject.call("add");
    await expect(destroy(subject)).rejects.toMatchObject({ statusCode: 503, code: "restarting" });
    expect(await subject.call("get")).toBe(1);
  });
});

describe("the last part of an actor that is destroyed", () => {
  it("begins with the abort of every signal, while state and vars can still be read (A50, A51, B35)", async () => {
    const seen: string[] = [];
    const { world, subject } = single(
      actor({
        state: { n: 1 },
        vars: { v: 2 },
        onWake: (c) =>
          c.abortSignal.addEventListener("abort", () =>
            seen.push(
              `captured: ${c.aborted} ${c.state.n} ${c.vars.v} ${(c.abortSignal.reason as { code: string }).code}`,
            ),
          ),
        onDestroy: async (c) => {
          seen.push(`onDestroy: ${c.aborted} ${c.state.n} ${c.vars.v}`);
          await world.turn();
          seen.push(`onDestroy goes on: ${c.state.n} ${c.vars.v}`);
        },
        actions: {
          destroy: async (c) => {
            c.destroy();
            seen.push(`same tick: ${c.aborted}`);
            await world.turn();
            seen.push(`later: ${c.aborted}`);
          },
        },
      }),
    );
    await subject.call("destroy");
    await ended(world);
    expect(seen).toEqual([
      "same tick: false",
      "later: false",
      "captured: true 1 2 aborted",
      "onDestroy: true 1 2",
      "onDestroy goes on: 1 2",
    ]);
    expect(subject.store.keys).toEqual([]);
  });

  it("lets what is waited for and kept awake finish, with all that the actor has (A54)", async () => {
    const seen: unknown[] = [];
    const { world, subject } = single(
      actor({
        state: { n: 1 },
        onDestroy: (c) => c.waitUntil(world.clock.delay(3_000).then(() => seen.push("waited for by onDestroy"))),
        actions: {
          get: (c) => c.state.n,
          destroy: (c) => {
            c.waitUntil(
              (async () => {
                await world.clock.delay(1_000);
                await c.client().subject.getOrCreate("other").get();
                seen.push(`called another; state ${c.state.n}`);
              })(),
            );
            void c.keepAwake(world.clock.delay(2_000).then(() => seen.push("kept awake")));
            c.destroy();
          },
        },
      }),
    );
    await subject.call("destroy");
    await world.pass(2_999);
    expect(subject.store.keys).toContain("a");
    await world.pass(1);
    expect(seen).toEqual(["called another; state 1", "kept awake", "waited for by onDestroy"]);
    expect(subject.store.keys).toEqual([]);
    expect(subject.timersHeld).toBe(0);
  });

  it("takes at most sleepGracePeriod, whoever ignores the abort (A52)", async () => {
    const { world, subject } = single(
      actor({
        options: { sleepGracePeriod: 2_000 },
        run: () => new Promise<void>(() => {}),
        onDestroy: () => world.clock.delay(1_500),
        actions: {
          destroy: (c) => {
            void c.keepAwake(new Promise(() => {}));
            c.waitUntil(new Promise(() => {}));
            c.destroy();
          },
        },
      }),
    );
    await subject.call("destroy");
    await world.pass(1_999);
    expect(subject.store.keys).toContain("a");
    await world.pass(1);
    expect(subject.store.keys).toEqual([]);
    expect(subject.store.alarmAt).toBe(null);
    expect(subject.timersHeld).toBe(0);
  });

  it("ends the waits of actions and of the run handler, and begins none", async () => {
    const seen: string[] = [];
    const coded = (error: { group: string; code: string }): string => `${error.group}/${error.code}`;
    const { world, subject } = single(
      actor({
        run: async (c) => {
          seen.push(`run: ${await c.queue.next().then(() => "a message", coded)}`);
        },
        onDestroy: async (c) => {
          seen.push(`onDestroy: ${await c.queue.next().then(() => "a message", coded)}`);
          await world.clock.delay(1_000);
        },
        actions: {
          waits: (c) => c.queue.next(),
          handles: (c) => c.queue.next().catch(coded),
          destroy: (c) => c.destroy(),
        },
      }),
    );
    const waits = subject.call("waits").catch(coded);
    const handles = subject.call("handles").catch(coded);
    await world.settle();
    await subject.call("destroy");
    await ended(world);
    expect([await waits, await handles]).toEqual(["actor/destroyed", "actor/aborted"]);
    expect(seen.sort()).toEqual(["onDestroy: actor/aborted", "run: actor/aborted"]);
    expect(subject.store.keys, "onDestroy is not over").toContain("a");
    await world.pass(1_000);
    expect(subject.store.keys).toEqual([]);
  });

  it("starts no workflow, though onDestroy sends it a message", async () => {
    const seen: string[] = [];
    const { world, subject } = single(
      actor({
        run: workflow(async (ctx) => {
          seen.push("begins");
          await ctx.queue.next("message");
          seen.push("goes on");
        }),
        onDestroy: async (c) => {
          await c.queue.send("in", 1);
          await world.turn();
        },
        actions: { destroy: (c) => c.destroy() },
      }),
    );
    await subject.call("destroy");
    await ended(world);
    expect(seen).toEqual(["begins"]);
    expect(subject.store.keys).toEqual([]);
  });

  it("comes once for an actor that its own start destroys, and the calls that started it find the next life (A53)", async () => {
    const seen: string[] = [];
    const define = (also: object): Single =>
      single(
        actor({
          state: { n: 0 },
          onDestroy: (c) => void seen.push(`onDestroy ${c.state.n}`),
          actions: {
            get: (c) => c.state.n,
            plan: (c) => c.schedule.after(1_000, "end"),
            end: (c) => c.destroy(),
            add: (c) => (c.state.n += 1),
          },
          ...also,
        }),
      );
    for (const also of [
      { run: async () => void seen.push("run") },
      { run: workflow(async () => void seen.push("workflow")) },
    ]) {
      const { world, subject } = define(also);
      await subject.call("add");
      await subject.call("plan");
      await world.settle();
      subject.crash();
      world.clock.moveTo(world.clock.now() + 1_000);
      seen.splice(0);
      expect(await Promise.all([subject.call("get"), subject.call("get")]), "served by the next life").toEqual([0, 0]);
      expect(seen.filter((each) => each.startsWith("onDestroy"))).toEqual(["onDestroy 1"]);
      await world.passUntilQuiet();
      expect(await subject.call("get")).toBe(0);
    }
  });

  it("is told to the caller whose creation destroys itself", async () => {
    const { world, subject } = single(
      actor({
        run: workflow((ctx) => ctx.step("destroys", (step) => step.destroy())),
        actions: { get: () => "served" },
      }),
    );
    await expect(subject.call("get")).rejects.toMatchObject({ group: "actor", code: "destroyed", statusCode: 404 });
    await ended(world);
    expect(subject.store.keys).toEqual([]);
  });

  it("asks for few alarms while onDestroy takes its time, whatever was due before", async () => {
    const { world, subject } = single(
      actor({
        state: {},
        onDestroy: () => world.clock.delay(10_000),
        actions: { end: (c) => c.destroy() },
        run: workflow(async (ctx) => void (await ctx.queue.nextBatch("wait", { timeout: 1_000 }))),
      }),
    );
    const ending = subject.call("end");
    await world.settle();
    await ending;
    const { alarmWrites } = subject.store;
    await world.pass(9_000);
    expect(subject.store.keys).toContain("a");
    expect(subject.store.alarmWrites - alarmWrites).toBeLessThan(5);
    await world.pass(60_000);
    expect(subject.store.keys).toEqual([]);
  });
});
