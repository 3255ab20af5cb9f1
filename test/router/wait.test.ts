// A sender who waits is held by the Worker: what happens when the object breaks meanwhile, on a clock that the test moves.
import { describe, expect, test, vi } from "vitest";
import { ActorError, encodeValue, type CallOperation } from "../../src/protocol/index.js";
import {
  createMessageSender,
  type ActorCall,
  type ActorReply,
  type CallActor,
  type OpenSocket,
  type SentMessage,
} from "../../src/router/index.js";
import { ManualClock } from "../../src/testing/index.js";

const TOKEN = "5".repeat(32);
const noSockets = (): Promise<never> =>
  Promise.reject(new ActorError("actor", "invalid_request", "An object of the last release takes no such sockets"));

const ACTOR_ID = `${"a".repeat(64)}-00112233445566aa`;
const TARGET = { name: "counter", key: ["a"], creation: { mode: "getOrCreate" } } as const;
const BODY = encodeValue(1);
const OVERLOADED = new ActorError("actor", "overloaded", "too much", { metadata: { retryable: false } });

function reply(output: unknown): ActorReply {
  return { v: 1, ok: true, actorId: ACTOR_ID, created: false, createdAt: 1, output: encodeValue(output) };
}

/** Waits answered by the test, one after the other; the last answer is repeated. */
function sender(
  waits: ((clock: ManualClock, operation: Extract<CallOperation, { kind: "wait" }>) => Promise<unknown>)[],
  options: {
    random?: number;
    stored?: () => Promise<unknown>;
    found?: (() => Promise<unknown>)[];
    openSocket?: OpenSocket;
    timerFires?: boolean;
  } = {},
) {
  const clock = new ManualClock(1000);
  const calls: ActorCall[] = [];
  const pauses: number[] = [];
  /** Each with its ms, while it runs. */
  const timers = new Map<object, number>();
  let attached = 0;
  let looked = 0;
  const callActor: CallActor = async (call) => {
    calls.push(call);
    const { operation } = call;
    if (operation.kind === "send")
      return reply((await options.stored?.()) ?? { id: 7, createdAt: 5, waitMs: operation.timeoutMs ?? 60_000 });
    if (operation.kind === "sent") return reply(await options.found?.[looked++]?.());
    if (operation.kind !== "wait") throw new Error("The call is neither a send nor a wait.");
    const answer = waits[Math.min(attached++, waits.length - 1)];
    if (answer === undefined) throw new Error("Nobody should wait.");
    return reply(await answer(clock, operation));
  };
  const sleep = async (ms: number): Promise<void> => {
    pauses.push(ms);
    clock.moveTo(clock.now() + ms);
  };
  const setTimer = (ms: number, action: () => void): (() => void) => {
    if (options.timerFires) queueMicrotask(() => (clock.moveTo(clock.now() + ms), action()));
    timers.set(action, ms);
    return () => timers.delete(action);
  };
  const send = createMessageSender(callActor, options.openSocket ?? noSockets, {
    now: () => clock.now(),
    sleep,
    setTimer,
    random: () => options.random ?? 0,
    newToken: () => TOKEN,
  });
  const leftMs = (): number[] =>
    calls.flatMap(({ operation }) => (operation.kind === "wait" ? [operation.timeoutMs] : []));
  return {
    clock,
    calls,
    pauses,
    timers,
    leftMs,
    send: (timeoutMs?: number, signal?: AbortSignal): Promise<SentMessage> =>
      send({
        target: TARGET,
        queue: "q",
        body: BODY,
        wait: true,
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(signal !== undefined && { signal }),
      }),
  };
}

const completes = async (): Promise<unknown> => ({ status: "completed", reply: encodeValue("done") });
const breaksAfter =
  (ms: number, error: unknown) =>
  async (clock: ManualClock): Promise<never> => {
    clock.moveTo(clock.now() + ms);
    throw error;
  };
const flagged = (flags: object): Error => Object.assign(new Error("of the platform"), flags);

describe("a sender who waits, at an object of the last release, which answers once the message is stored,", () => {
  test("attaches to its message with the time it has, and gets the reply", async () => {
    const { send, calls } = sender([completes]);
    expect(await send(300)).toEqual({ actorId: ACTOR_ID, status: "completed", reply: encodeValue("done") });
    expect(calls).toEqual([
      {
        target: TARGET,
        operation: {
          kind: "send",
          queue: "q",
          body: BODY,
          wait: true,
          timeoutMs: 300,
          attachMs: 30_000,
          token: TOKEN,
        },
      },
      {
        target: { actorId: ACTOR_ID },
        operation: { kind: "wait", messageId: 7, createdAt: 5, timeoutMs: 300, token: TOKEN },
      },
    ]);
  });

  test("is told a second after its time that it is over, though its object says nothing", async () => {
    const { send, clock } = sender([() => new Promise(() => {})], { timerFires: true });
    expect(await send(300)).toEqual({ actorId: ACTOR_ID, status: "timedOut" });
    expect(clock.now()).toBe(1000 + 300 + 1000);
  });

  test("has no timer left once its object has answered, or broken", async () => {
    const { send, timers } = sender([breaksAfter(100, flagged({})), completes]);
    expect(await send(300)).toMatchObject({ status: "completed" });
    expect(timers.size).toBe(0);
  });

  test.each<[string, unknown]>([
    ["a retryable error of the platform", flagged({ retryable: true })],
    ["a reset of the object", flagged({ durableObjectReset: true })],
    ["any other error of the platform", flagged({})],
    ["something that is no error", "gone"],
    ["a lost activation", new ActorError("actor", "restarting", "restarting", { metadata: { retryable: true } })],
    ["an object that starts", new ActorError("actor", "starting", "starting")],
  ])("is attached again after %s, with the time that is left", async (_what, error) => {
    const { send, leftMs, pauses } = sender([breaksAfter(100, error), breaksAfter(40, error), completes]);
    expect(await send(1000)).toMatchObject({ status: "completed" });
    expect(pauses).toEqual([50, 100]);
    expect(leftMs()).toEqual([1000, 850, 710]);
  });

  test("pauses a little longer each time, up to two seconds, by chance up to half of it less", async () => {
    const { send, pauses } = sender(
      [...Array<ReturnType<typeof breaksAfter>>(8).fill(breaksAfter(0, flagged({}))), completes],
      { random: 0.5 },
    );
    await send(100_000);
    expect(pauses).toEqual([37.5, 75, 150, 300, 600, 1200, 1500, 1500]);
  });

  test("leaves an overloaded object alone for longer", async () => {
    const { send, pauses } = sender([
      ...Array<ReturnType<typeof breaksAfter>>(6).fill(breaksAfter(0, OVERLOADED)),
      completes,
    ]);
    await send(100_000);
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000]);
  });

  test("is told that the time was over when the object never comes back, and not later", async () => {
    const { send, clock, leftMs } = sender([breaksAfter(0, flagged({ retryable: true }))]);
    expect(await send(1000)).toEqual({ actorId: ACTOR_ID, status: "timedOut" });
    expect(clock.now()).toBe(2000);
    expect(leftMs()).toEqual([1000, 950, 850, 650, 250]);
  });

  test("with no time is still asked for once", async () => {
    const { send, leftMs } = sender([completes]);
    expect(await send(0)).toMatchObject({ status: "completed" });
    expect(leftMs()).toEqual([0]);
  });

  test("without a time of its own has the action timeout, and its error", async () => {
    const { send, leftMs } = sender([async () => ({ status: "timedOut" })]);
    await expect(send()).rejects.toMatchObject({ group: "actor", code: "action_timed_out", statusCode: 408 });
    expect(leftMs()).toEqual([30_000]);
    const broken = sender([breaksAfter(59_990, flagged({}))]);
    await expect(broken.send()).rejects.toMatchObject({ group: "actor", code: "action_timed_out" });
    expect(broken.clock.now()).toBe(61_000);
  });

  test("waits on in a call with an object of the last release, which takes no sockets", async () => {
    const { send, leftMs, clock } = sender([
      async () => {
        clock.moveTo(clock.now() + 30_000);
        return { status: "timedOut" };
      },
      completes,
    ]);
    expect(await send(50_000)).toMatchObject({ status: "completed" });
    expect(leftMs()).toEqual([30_000, 20_000]);
  });

  test("hears that the actor was destroyed, whoever says so", async () => {
    const gone = sender([
      breaksAfter(10, flagged({ durableObjectReset: true })),
      breaksAfter(0, new ActorError("actor", "not_found", "no such id")),
    ]);
    await expect(gone.send(1000)).rejects.toMatchObject({ group: "actor", code: "destroyed", statusCode: 404 });
    const told = sender([breaksAfter(10, new ActorError("actor", "destroyed", "was destroyed"))]);
    await expect(told.send(1000)).rejects.toMatchObject({ group: "actor", code: "destroyed" });
    expect(told.leftMs()).toHaveLength(1);
  });

  test.each([
    ["storage", "newer_format"],
    ["rivetkit", "internal_error"],
    ["user", "whatever"],
  ])("gets any other error, %s/%s say, at once", async (group, code) => {
    const { send, leftMs } = sender([breaksAfter(10, new ActorError(group, code, "m"))]);
    await expect(send(1000)).rejects.toMatchObject({ group, code });
    expect(leftMs()).toHaveLength(1);
  });

  test("who is gone is not attached again", async () => {
    const controller = new AbortController();
    const breaksWhenGone = async (): Promise<never> => {
      controller.abort("gone");
      throw flagged({ retryable: true });
    };
    const { send, leftMs } = sender([breaksWhenGone]);
    await expect(send(1000, controller.signal)).rejects.toBe("gone");
    expect(leftMs()).toHaveLength(1);
  });
});

describe("a sender who waits in the call of its send", () => {
  test("gets the reply from that call alone", async () => {
    const result = { status: "completed", reply: encodeValue("done") };
    const stored = async (): Promise<unknown> => ({ id: 7, createdAt: 5, waitMs: 300, result });
    const { send, calls, timers } = sender([], { stored });
    expect(await send(300)).toEqual({ actorId: ACTOR_ID, ...result });
    expect([calls.length, timers.size]).toEqual([1, 0]);
  });

  test("is told there that its time is over; without a time of its own, by the error of an action", async () => {
    const stored = async (): Promise<unknown> => ({
      id: 7,
      createdAt: 5,
      waitMs: 9_000,
      result: { status: "timedOut" },
    });
    expect(await sender([], { stored }).send(9_000)).toEqual({ actorId: ACTOR_ID, status: "timedOut" });
    await expect(sender([], { stored }).send()).rejects.toMatchObject({
      code: "action_timed_out",
      metadata: { timeoutMs: 9_000 },
    });
  });

  test("waits through a socket for what is left, and in a call again if that breaks", async () => {
    const stored = async (): Promise<unknown> => ({ id: 7, createdAt: 5, waitMs: 50_000, leftMs: 20_000 });
    const opened: unknown[] = [];
    const openSocket: OpenSocket = async ({ operation }) => {
      opened.push(operation);
      throw flagged({ durableObjectReset: true });
    };
    const { send, leftMs } = sender([completes], { stored, openSocket });
    expect(await send(50_000)).toMatchObject({ status: "completed" });
    expect(opened).toEqual([{ kind: "wait", messageId: 7, createdAt: 5, timeoutMs: 20_000, token: TOKEN }]);
    expect(leftMs()).toEqual([19_950]);
  });

  describe("which breaks", () => {
    const lost = flagged({ durableObjectReset: true });
    const stored = (): Promise<unknown> => Promise.reject(lost);
    const found = async (): Promise<unknown> => ({ id: 7, createdAt: 5, waitMs: 250 });

    test("finds its message by its token, in the actor that is there, and waits on", async () => {
      const { send, calls } = sender([completes], { stored, found: [found] });
      expect(await send(300)).toMatchObject({ actorId: ACTOR_ID, status: "completed" });
      expect(calls.slice(1)).toEqual([
        { target: { ...TARGET, creation: { mode: "get" } }, operation: { kind: "sent", token: TOKEN } },
        {
          target: { actorId: ACTOR_ID },
          operation: { kind: "wait", messageId: 7, createdAt: 5, timeoutMs: 250, token: TOKEN },
        },
      ]);
    });

    test("looks again if that call breaks, too", async () => {
      const { send, pauses } = sender([completes], { stored, found: [stored, stored, found] });
      expect(await send(300)).toMatchObject({ status: "completed" });
      expect(pauses).toEqual([50, 100]);
    });

    test.each<[string, (() => Promise<unknown>)[]]>([
      ["no message has the token", [async () => undefined]],
      ["there is no actor", [() => Promise.reject(new ActorError("actor", "not_found", "none"))]],
      ["the object is of the last release", [() => Promise.reject(new ActorError("feature", "unsupported", "no"))]],
      ["the object is away for longer than the wait", Array(20).fill(stored) as (() => Promise<unknown>)[]],
    ])("is told that, if %s: the message may be stored", async (_what, answers) => {
      const { send, calls } = sender([], { stored, found: answers });
      await expect(send(1_000)).rejects.toBe(lost);
      expect(calls.filter(({ operation }) => operation.kind === "send")).toHaveLength(1);
    });

    test("asks no more once it is gone", async () => {
      const controller = new AbortController();
      const gone = async (): Promise<never> => {
        controller.abort("gone");
        throw lost;
      };
      const { send, calls } = sender([], { stored, found: [gone] });
      await expect(send(1_000, controller.signal)).rejects.toBe("gone");
      expect(calls).toHaveLength(2);
    });

    test.each([OVERLOADED, new ActorError("queue", "full", "full"), new ActorError("actor", "stopping", "stopping")])(
      "asks nothing if its message was refused: $code",
      async (error) => {
        const { send, calls } = sender([], { stored: () => Promise.reject(error) });
        await expect(send(1_000)).rejects.toBe(error);
        expect(calls).toHaveLength(1);
      },
    );
  });
});

describe("a send", () => {
  test("whose answer was lost is not sent again", async () => {
    const lost = flagged({ retryable: true });
    const { send, calls } = sender([], { stored: () => Promise.reject(lost) });
    await expect(send(1000)).rejects.toBe(lost);
    expect(calls.filter(({ operation }) => operation.kind === "send")).toHaveLength(1);
  });

  test("that does not wait asks for nothing after it", async () => {
    const callActor = vi.fn<CallActor>(async () => reply({ id: 1, createdAt: 1, waitMs: 0 }));
    const sent = await createMessageSender(
      callActor,
      noSockets,
    )({ target: TARGET, queue: "q", body: BODY, wait: false, timeoutMs: 50 });
    expect(sent).toEqual({ actorId: ACTOR_ID, status: "completed" });
    expect(callActor.mock.calls).toEqual([[{ target: TARGET, operation: { kind: "send", queue: "q", body: BODY } }]]);
  });

  test("answered with nonsense is an error of ours", async () => {
    const callActor: CallActor = async () => ({ v: 1, ok: true, actorId: ACTOR_ID, created: false, createdAt: 1 });
    await expect(
      createMessageSender(callActor, noSockets)({ target: TARGET, queue: "q", body: BODY, wait: true }),
    ).rejects.toMatchObject({ code: "internal_error", public: false });
  });
});
