import { describe, expect, it } from "vitest";
import { decodeValue, encodeValue, type CallOperation } from "../../../src/protocol/index.js";
import { Subject, type Program } from "../../workflow/subject.js";

// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;

const TOKEN = "a1".repeat(16);
/** Takes each message at once and answers with twice its body. */
const doubles: Program = (ctx) =>
  ctx.loop("loop", async (loop: Any) => {
    const message = await loop.queue.next("in", { completable: true });
    await message.complete(message.body * 2);
  });

/** An actor that notes the names of all rows it ever had. */
function observed(program: Program | undefined, options: ConstructorParameters<typeof Subject>[1] = {}) {
  const rows = new Set<string>();
  const s = new Subject(program, {
    ...options,
    actions: {
      finish: async (c, response: unknown) => (await c.queue.tryNext({ completable: true }))?.complete(response),
      ask: (c, body: unknown) => c.queue.enqueueAndWait("in", body),
      ...options.actions,
    },
    onCommit: (stored) => [...stored.keys()].forEach((key) => rows.add(key)),
  });
  const operate = async (operation: CallOperation): Promise<Any> => {
    const reply = await s.actor.send({ mode: "getOrCreate" }, operation);
    if (!reply.ok) throw Object.assign(new Error(reply.error.message), reply.error);
    return reply.output && decodeValue(reply.output);
  };
  const sent = (about: { attachMs?: number; timeoutMs?: number; token?: string } = {}): Promise<Any> =>
    operate({ kind: "send", queue: "in", body: encodeValue(7), wait: true, token: TOKEN, timeoutMs: 50_000, ...about });
  const isKept = (): boolean => [...rows].some((key) => key.startsWith("d/reply/"));
  return { s, sent, operate, isKept, find: (token = TOKEN) => operate({ kind: "sent", token }) };
}

const handles = { config: { run: async () => {} } };
/** Completes every message. */
const answers = {
  config: {
    run: async (c: Any) => {
      for await (const message of c.queue.iter({ completable: true })) await message.complete(message.body * 2);
    },
  },
};

describe("a waiting send that is attached", () => {
  it.each([
    ["a workflow", doubles, {}],
    ["a run handler", undefined, answers],
  ])("is answered with the reply of %s, which is stored nowhere", async (_what, program, options) => {
    const { s, sent, isKept } = observed(program, options);
    await s.call("get");
    await s.world.settle();
    const { result, ...accepted } = await sent({ attachMs: 30_000 });
    expect([accepted, decodeValue(result.reply)]).toEqual([{ id: 1, createdAt: s.clock.now(), waitMs: 50_000 }, 14]);
    expect([result.status, isKept(), s.queued]).toEqual(["completed", false, 0]);
  });

  it("is answered once its actor exists, if it creates it", async () => {
    const { sent, isKept } = observed(doubles);
    const { result } = await sent({ attachMs: 30_000 });
    expect([decodeValue(result.reply), isKept()]).toEqual([14, false]);
  });

  it("is let go after its time in the call, with what is left of the wait; a reply is then kept", async () => {
    const { s, sent, operate, isKept } = observed(undefined, handles);
    const waiting = sent({ attachMs: 30_000 });
    await s.world.pass(30_000);
    const { createdAt, leftMs } = await waiting;
    expect(leftMs).toBe(20_000);
    await s.call("finish", "late");
    expect(isKept()).toBe(true);
    const wait = { kind: "wait", messageId: 1, createdAt, timeoutMs: leftMs, token: TOKEN } as const;
    expect(decodeValue((await operate(wait)).reply)).toBe("late");
  });

  it("is told that its time is over in the call, and leaves its message", async () => {
    const { s, sent } = observed(undefined, handles);
    const waiting = sent({ attachMs: 30_000, timeoutMs: 100 });
    await s.world.pass(100);
    expect(await waiting).toMatchObject({ waitMs: 100, result: { status: "timedOut" } });
    expect([s.queued, s.actor.timersHeld]).toEqual([1, 0]);
    expect(await sent({ attachMs: 30_000, timeoutMs: 0 })).toMatchObject({ result: { status: "timedOut" } });
  });

  it("gets no reply that its actor could not store", async () => {
    const { s, sent } = observed(undefined, { ...handles, fault: () => (isFull ? "refuse" : undefined) });
    let isFull = false;
    const waiting = sent({ attachMs: 30_000 }).catch(({ code }: { code: string }) => code);
    await s.world.settle();
    isFull = true;
    await s.call("finish", "lost").catch(() => {});
    isFull = false;
    expect(await Promise.race([waiting, s.actor.died().then(() => "died")])).not.toMatchObject({ result: {} });
    expect(s.queued).toBe(1);
  });
});

describe("a waiting send of a Worker of the last release, which does not attach,", () => {
  it("is answered once its message is stored; a quick reply is kept until it asks", async () => {
    const { s, sent, isKept } = observed(doubles);
    expect(await sent()).toEqual({ id: 1, createdAt: s.clock.now(), waitMs: 50_000 });
    await s.world.settle();
    expect(isKept()).toBe(true);
    expect(await s.wait(1, s.clock.now(), 50_000)).toEqual({ status: "completed", response: 14 });
  });
});

describe("a sender whose call broke", () => {
  it("finds its message by its token: in the queue, held by a workflow, or with its reply kept", async () => {
    const { s, sent, find } = observed(undefined, handles);
    await sent();
    const accepted = { id: 1, createdAt: s.clock.now(), waitMs: 50_000 };
    expect(await find()).toEqual(accepted);
    await s.world.pass(1_000);
    s.actor.crash();
    expect(await find()).toEqual({ ...accepted, waitMs: 49_000 });
    await s.call("finish", "late");
    expect(await find()).toEqual({ ...accepted, waitMs: 49_000 });
    s.actor.crash();
    expect(await find()).toEqual({ ...accepted, waitMs: 49_000 });
    expect(await s.wait(1, accepted.createdAt, 1)).toEqual({ status: "completed", response: "late" });

    const held = observed(async (ctx) => {
      await ctx.queue.next("in", { completable: true });
      await ctx.queue.next("never");
    });
    await held.sent();
    await held.s.world.settle();
    expect(await held.find()).toMatchObject({ id: 1 });
  });

  it("finds the reply that died on its way to it in the entry that took the message, if it is not large", async () => {
    for (const [size, result] of [
      [10, { status: "completed", response: "x".repeat(10) }],
      [70_000, undefined],
    ] as const) {
      const { s, sent, find } = observed(async (ctx) => {
        await (await ctx.queue.next("in", { completable: true })).complete?.("x".repeat(size));
        await ctx.queue.next("never");
      });
      await s.call("get");
      await sent({ attachMs: 30_000 });
      s.actor.crash();
      const found = await find();
      expect(found && (await s.wait(found.id, found.createdAt, 1))).toEqual(result);
    }
  });

  it("finds nothing for a token that no message has, or that is none, and creates no actor", async () => {
    const { s, sent, find, operate } = observed(undefined, handles);
    await sent();
    expect(await find("b2".repeat(16))).toBe(undefined);
    expect(await operate({ kind: "sent", token: undefined as Any })).toBe(undefined);
    await s.call("tryNext");
    expect(await find()).toBe(undefined);
    const none = new Subject(undefined, handles);
    expect(await none.actor.send({ mode: "get" }, { kind: "sent", token: TOKEN })).toMatchObject({
      error: { code: "not_found" },
    });
  });
});

it("an action that waits for what it sent to its own actor needs no row for the reply either", async () => {
  const { s, isKept } = observed(undefined, answers);
  expect([await s.call("ask", 4), isKept()]).toEqual([8, false]);
});
