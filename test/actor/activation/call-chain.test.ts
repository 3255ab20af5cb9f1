import { describe, expect, it } from "vitest";
import { actor, setup, workflow, type ActorDefinitions } from "../../../src/actor/index.js";
import { decodeValue, ENVELOPE_VERSION, encodeValue, type CallEnvelope } from "../../../src/protocol/index.js";
import type { World, WorldOptions } from "../../../src/testing/index.js";
import { testWorld } from "../../support/test-world.js";

// Actors that wait for one another's replies, in the memory world. On the platform: test/in-worker/wait-cycle.test.ts.

interface Handle {
  send(queue: string, body: unknown, options?: { wait?: boolean; timeout?: number }): Promise<{ status: string }>;
  go(...args: unknown[]): Promise<unknown>;
}
type Caller = { client(): unknown };
const handleOf = (c: Caller, name: string): Handle =>
  (c.client() as Record<string, { getOrCreate(key: string): Handle }>)[name]?.getOrCreate("k") as Handle;
const ask = (c: Caller, name: string): Promise<unknown> =>
  handleOf(c, name).send("asks", {}, { wait: true, timeout: 5_000 });

/** The outcome of a waiting send; for a refusal, the chain. */
async function told(promise: Promise<unknown>): Promise<unknown> {
  try {
    return ((await promise) as { status: string }).status;
  } catch (error) {
    const { group, code, metadata } = error as {
      group: string;
      code: string;
      metadata?: { chain?: { name: string; waits: string }[] };
    };
    return [`${group}/${code}`, ...(metadata?.chain ?? []).map(({ name, waits }) => `${name} ${waits}`)];
  }
}

/** Asks the next actor, unprompted. */
const asker = (next: string, seen: unknown[], whileAsking?: (ctx: unknown) => Promise<unknown>) =>
  actor({
    queues: { asks: {} },
    run: workflow(async (ctx) => {
      const asking = async (branch: {
        step(name: string, run: (step: Caller) => Promise<unknown>): Promise<unknown>;
      }): Promise<void> => {
        seen.push(await branch.step("ask", (step) => told(ask(step, next))));
      };
      if (!whileAsking) return asking(ctx as never);
      await ctx.join("both", {
        asks: { run: (branch) => asking(branch as never) },
        other: { run: (branch) => whileAsking(branch) },
      });
    }),
    actions: { go: () => "gone" },
  });

/** Receives a question, asks the next actor, then answers. */
const relay = (next: string, seen: unknown[], pauseMs = 0) =>
  actor({
    queues: { asks: {} },
    run: workflow(async (ctx) => {
      const message = await ctx.queue.next("asks", { completable: true });
      if (pauseMs > 0) await ctx.sleep("pause", pauseMs);
      seen.push(await ctx.step("ask on", (step) => told(ask(step as never, next))));
      await message.complete();
    }),
    actions: { go: () => "gone" },
  });

async function worldOf(use: object, options: Partial<WorldOptions> = {}): Promise<World> {
  const world = testWorld(setup({ use: use as ActorDefinitions }), options);
  await world.actor("a", ["k"]).call("go");
  await world.settle();
  return world;
}

describe("a waiting send to an actor whose workflow waits for its sender", () => {
  it("is queue/wait_cycle at once, with who waits; so the first sender gets its answer", async () => {
    const seen: unknown[] = [];
    await worldOf({ a: asker("b", seen), b: relay("a", seen) });
    expect(seen).toEqual([["queue/wait_cycle", "a workflow", "b workflow"], "completed"]);
  });

  it("is found through a third actor, and through an action", async () => {
    const seen: unknown[] = [];
    await worldOf({ a: asker("b", seen), b: relay("c", seen), c: relay("a", seen) });
    expect(seen).toEqual([["queue/wait_cycle", "a workflow", "b workflow", "c workflow"], "completed", "completed"]);

    const through: unknown[] = [];
    const a = actor({
      queues: { asks: {} },
      run: workflow(async (ctx) => void (await ctx.step("call", (step) => handleOf(step as never, "b").go()))),
      actions: { go: () => "gone" },
    });
    const b = actor({ actions: { go: async (c) => void through.push(await told(ask(c, "a"))) } });
    await worldOf({ a, b });
    expect(through).toEqual([["queue/wait_cycle", "a workflow", "b action"]]);
  });

  it("is found also when it sends to its own queue, from an action that its workflow has called", async () => {
    const seen: unknown[] = [];
    const a = actor({
      queues: { asks: {} },
      run: workflow(async (ctx) => void (await ctx.step("call", (step) => handleOf(step as never, "b").go()))),
      actions: {
        go: () => "gone",
        wait: async (c) => void seen.push(await told(c.queue.enqueueAndWait("asks", {}, { timeout: 5_000 }))),
      },
    });
    const b = actor({ actions: { go: (c) => (handleOf(c, "a") as unknown as { wait(): Promise<unknown> }).wait() } });
    await worldOf({ a, b });
    expect(seen).toEqual([["queue/wait_cycle", "a workflow", "b action", "a action"]]);
  });

  it("is let in when another branch is free, and is answered by that", async () => {
    const seen: unknown[] = [];
    const answers = async (branch: unknown): Promise<void> => {
      const { queue } = branch as {
        queue: { next(name: string, options: object): Promise<{ complete(): Promise<void> }> };
      };
      await (await queue.next("asks", { completable: true })).complete();
    };
    await worldOf({ a: asker("b", seen, answers), b: relay("a", seen) });
    expect(seen).toEqual(["completed", "completed"]);
  });

  it("is let in when what its sender holds may be answered by another branch of it", async () => {
    const seen: unknown[] = [];
    const a = actor({
      queues: { asks: {} },
      run: workflow(async (ctx) => {
        seen.push(await ctx.step("ask", (step) => told(ask(step as never, "b"))));
        await (await ctx.queue.next("asks", { completable: true })).complete();
      }),
      actions: { go: () => "gone" },
    });
    const b = actor({
      queues: { asks: {} },
      run: workflow(async (ctx) => {
        const message = await ctx.queue.next("asks", { completable: true });
        await ctx.join("both", {
          asks: {
            run: (branch) => branch.step("ask on", async (step) => void seen.push(await told(ask(step as never, "a")))),
          },
          answers: { run: async (branch) => (await branch.sleep("pause", 100), message.complete()) },
        });
      }),
    });
    const world = await worldOf({ a, b });
    await world.pass(200);
    expect(seen).toEqual(["completed", "completed"]);
  });

  it("is found after a crash of either, since the chain is stored with the message", async () => {
    for (const dies of ["a", "b"]) {
      const seen: unknown[] = [];
      const world = await worldOf({ a: asker("b", seen), b: relay("a", seen, 1_000) });
      world.actor(dies, ["k"]).crash();
      // An event restarts it; its lease's alarm would do so later.
      await world.actor(dies, ["k"]).call("go");
      await world.settle();
      await world.pass(1_000);
      expect([dies, seen[0]]).toEqual([dies, ["queue/wait_cycle", "a workflow", "b workflow"]]);
    }
  });
});

describe("a waiting send to an actor whose run handler waits for its sender", () => {
  const handler = (received: boolean, seen: unknown[]) =>
    actor({
      queues: { asks: {} },
      run: async (c) => {
        if (received) await c.queue.tryNext({ names: ["asks"] });
        seen.push(await told(ask(c as never, "b")));
      },
      actions: { go: () => "gone" },
    });
  const answering = (seen: unknown[]) =>
    actor({
      queues: { asks: {} },
      run: async (c) => {
        for await (const message of c.queue.iter({ completable: true })) {
          seen.push(await told(ask(c as never, "a")));
          await message.complete();
        }
      },
    });

  it("is queue/wait_cycle if that has never asked for such messages", async () => {
    const seen: unknown[] = [];
    await worldOf({ a: handler(false, seen), b: answering(seen) });
    expect(seen).toEqual([["queue/wait_cycle", "a run", "b run"], "completed"]);
  });

  it("is let in if it has: it may do so again", async () => {
    const seen: unknown[] = [];
    const world = await worldOf({ a: handler(true, seen), b: answering(seen) });
    expect(seen).toEqual([]);
    await world.pass(6_000);
    expect(seen).toHaveLength(2);
  });
});

describe("calls of actions", () => {
  it("interleave: an action may call back the one that called it", async () => {
    const back = (next: string) =>
      actor({
        actions: {
          go: async (c, depth = 0): Promise<unknown> =>
            (depth as number) >= 5 ? "bottom" : handleOf(c, next).go((depth as number) + 1),
        },
      });
    const world = testWorld(setup({ use: { a: back("b"), b: back("a") } as unknown as ActorDefinitions }));
    expect(await world.actor("a", ["k"]).call("go")).toBe("bottom");
  });

  it("are actor/call_too_deep where more than 32 wait for one another", async () => {
    const depths: number[] = [];
    const down = (next: string) =>
      actor({
        actions: {
          go: async (c, depth = 1): Promise<unknown> => {
            depths.push(depth as number);
            return handleOf(c, next).go((depth as number) + 1);
          },
        },
      });
    const world = testWorld(setup({ use: { a: down("b"), b: down("a") } as unknown as ActorDefinitions }));
    await expect(world.actor("a", ["k"]).call("go")).rejects.toMatchObject({ group: "actor", code: "call_too_deep" });
    expect(Math.max(...depths)).toBe(33);
  });
});

describe("a chain", () => {
  const send = { kind: "send", queue: "asks", body: encodeValue({}), wait: true, timeoutMs: 1_000 } as const;
  /** An actor whose workflow waits in an attempt, and the messages sent to it. */
  async function sendTo(extra: (actorId: string) => object): Promise<{ ok: boolean; row: unknown }> {
    const world = await worldOf({ a: asker("b", []), b: actor({ queues: { asks: {} } }) });
    const a = world.actor("a", ["k"]);
    const resolved = await a.send({ mode: "get" }, { kind: "resolve" });
    const envelope = {
      v: ENVELOPE_VERSION,
      address: { name: "a", key: ["k"] },
      creation: { mode: "get" },
      operation: send,
      ...extra(resolved.ok ? resolved.actorId : ""),
    };
    const { ok } = await a.deliver(envelope as CallEnvelope);
    const stored = [...a.store.dump()].find(([key]) => key.startsWith("m/"))?.[1];
    return { ok, row: stored && (decodeValue(stored) as unknown[])[4] };
  }
  const link = (actorId: string) => ({ actorId, name: "a", waits: "workflow", step: "ask#1", depth: 1 });

  it("counts from code of the same Worker only: nobody outside can forge one", async () => {
    expect(await sendTo((id) => ({ chain: [link(id)], internal: true }))).toEqual({ ok: false, row: undefined });
    expect(await sendTo((id) => ({ chain: [link(id)] }))).toEqual({ ok: true, row: undefined });
  });

  it("is none in a call of an older release, and what is no chain is none", async () => {
    for (const chain of [
      undefined,
      null,
      "a",
      [null, 1, { actorId: 1 }, { actorId: "x", name: "a", waits: "sits", depth: 1 }],
    ]) {
      expect(await sendTo(() => ({ internal: true, ...(chain !== undefined && { chain }) }))).toEqual({
        ok: true,
        row: undefined,
      });
    }
  });

  it("is stored with a message whose sender waits, and with no other", async () => {
    const other = { actorId: "other", name: "b", waits: "action", depth: 1 };
    expect(await sendTo(() => ({ chain: [other], internal: true }))).toEqual({ ok: true, row: { chain: [other] } });
    expect(await sendTo(() => ({ chain: [other], internal: true, operation: { ...send, wait: false } }))).toEqual({
      ok: true,
      row: undefined,
    });
  });
});
