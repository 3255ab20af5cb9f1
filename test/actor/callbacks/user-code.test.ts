import { describe, expect, it } from "vitest";
import { actor, event, queue } from "../../../src/actor/index.js";
import { Callback, runUserCode, type CallbackCommit, type UserCode } from "../../../src/actor/internal.js";
import { ActorError, encodeValue } from "../../../src/protocol/index.js";
import { single } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- contexts and sockets as user code has them
type Any = any;

/** An activation that records the calls of its methods, and a callback in it. */
function noted(record: { readonly destroyed?: boolean } = {}, commitError?: Error) {
  const notes: string[] = [];
  const calls = new Set<{ fire(): void }>();
  const activation = {
    record,
    timers: {
      add: (call: { fire(): void }) => calls.add(call),
      remove: (call: { fire(): void }) => calls.delete(call),
    },
    ports: { now: () => 0 },
    abortSignal: new AbortController().signal,
    begin: (code: () => unknown) => code(),
    commit: () => notes.push("commit"),
    commitOrThrow: () => {
      notes.push("commitOrThrow");
      if (commitError) throw commitError;
    },
    callbackEnded: () => notes.push("ended"),
  };
  const open = { begin: () => () => void (notes.includes("over") || notes.push("over")) };
  const callback = new Callback(open as Any, "a callback");
  const run = async (code: () => unknown, options: Partial<UserCode<unknown>> = {}): Promise<unknown> => {
    const answer = await runUserCode(activation as Any, callback, code, { commit: "must", ...options }).catch(
      (error: Error) => error.message,
    );
    notes.push(`left: ${String(answer)}`);
    return answer;
  };
  return { notes, callback, run, expire: () => calls.forEach((call) => call.fire()) };
}

describe("one run of user code", () => {
  const conclude = (notes: string[]) => async (ran: Promise<unknown>) => {
    try {
      return `${String(await ran)} concluded`;
    } finally {
      notes.push("conclude");
    }
  };

  it.each<[CallbackCommit, string[]]>([
    ["must", ["commitOrThrow"]],
    ["may", ["commit"]],
    ["with-caller", []],
  ])("is over, concluded, committed (%s), has ended, and then its result leaves", async (commit, committed) => {
    const { notes, run } = noted();
    await run(
      async () => {
        notes.push("code");
        return "given";
      },
      { commit, conclude: conclude(notes) },
    );
    expect(notes).toEqual(["code", "over", "conclude", ...committed, "ended", "left: given concluded"]);
  });

  it("that throws, at once or later, goes the same way", async () => {
    const boom = (): never => {
      throw new Error("boom");
    };
    for (const code of [boom, async () => boom()]) {
      const { notes, run } = noted();
      await run(code, { conclude: conclude(notes) });
      expect(notes).toEqual(["over", "conclude", "commitOrThrow", "ended", "left: boom"]);
    }
  });

  it("whose time is over goes the same way, and what it begins from then on is nobody's", async () => {
    const { notes, run, expire, callback } = noted();
    const left = run(() => new Promise(() => {}), { timeout: { ms: 10, error: () => new Error("too late") } });
    expire();
    await left;
    expect(notes).toEqual(["over", "commitOrThrow", "ended", "left: too late"]);
    await expect(callback.effects.begin(() => Promise.reject(new Error("nobody's")))).rejects.toThrow("nobody's");
    expect(callback.effects.settled()).toBe(undefined);
  });

  it("ends with what it began and did not await", async () => {
    const { notes, run, callback } = noted();
    await run(() => {
      void callback.effects.begin(async () => {
        await undefined;
        notes.push("begun");
      });
    });
    expect(notes).toEqual(["begun", "over", "commitOrThrow", "ended", "left: undefined"]);
  });

  it("that cannot be committed has ended, and its result does not leave", async () => {
    const { notes, run } = noted({}, new Error("lost"));
    await run(() => "given");
    expect(notes).toEqual(["over", "commitOrThrow", "ended", "left: lost"]);
  });

  it("whose wait was cut off by its actor's destruction says so; by anything else, what it was cut off with", async () => {
    const cutOff = new ActorError("actor", "aborted", "The actor is shutting down");
    const thrown = (): never => {
      throw cutOff;
    };
    expect(await noted({ destroyed: true }).run(thrown)).toBe("The actor was destroyed");
    expect(await noted().run(thrown)).toBe("The actor is shutting down");
    const own = (): never => {
      throw new Error("mine");
    };
    expect(await noted({ destroyed: true }).run(own)).toBe("mine");
  });
});

describe("what is the same for every callback", () => {
  it("canPublish: what it changed is stored before its refusal leaves", async () => {
    const { subject } = single(
      actor({
        state: { refused: 0 },
        queues: {
          work: queue<number>({
            canPublish: (c: Any) => {
              c.state.refused += 1;
              return false;
            },
          } as Any),
        },
        actions: { refused: (c) => c.state.refused },
      }),
    );
    expect(await subject.call("refused")).toBe(0);
    const reply = await subject.send({ mode: "get" }, { kind: "send", queue: "work", body: encodeValue(1) });
    subject.crash();
    expect([reply.ok, await subject.call("refused")]).toEqual([false, 1]);
  });

  it("onBeforeConnect and canSubscribe: a wait that the actor's destruction cut off is actor/destroyed", async () => {
    const waiting = async (c: Any): Promise<boolean> => (await c.queue.next()) !== undefined;
    const { subject, world } = single(
      actor({
        onBeforeConnect: async (c: Any, params: Any) => void (params === "wait" && (await waiting(c))),
        events: { news: event<number>({ canSubscribe: waiting } as Any) },
        actions: { touch: () => {}, end: (c: Any) => c.destroy() },
      } as Any),
    );
    // The hooks of the creator delay the start.
    await subject.call("touch");
    const connecting = subject
      .connect({ params: "wait" })
      .catch((error: { group: string; code: string }) => `${error.group}/${error.code}`);
    const socket = await subject.connect({});
    const subscribing = socket.say({ tag: "SubscriptionRequest", val: { eventName: "news", subscribe: true } });
    await world.settle();
    await subject.call("end");
    await world.settle();
    await subscribing;
    expect([await connecting, socket.end?.reason]).toEqual(["actor/destroyed", "actor.destroyed"]);
  });

  it("onWebSocket: a wait that the actor's destruction cut off ends its socket with actor.destroyed", async () => {
    const { subject, world } = single(
      actor({ onWebSocket: (c: Any) => c.queue.next(), actions: { end: (c: Any) => c.destroy() } } as Any),
    );
    const socket = await subject.connect({ raw: true });
    await subject.call("end");
    await world.settle();
    expect(socket.end).toEqual({ code: 1011, reason: "actor.destroyed" });
  });

  it("onWebSocket: one that throws and heard nobody ends its connection at once, not after onConnectTimeout", async () => {
    const gone: unknown[] = [];
    const { subject, world } = single(
      actor({
        onWebSocket: () => {
          throw new Error("boom");
        },
        onDisconnect: (_c: Any, conn: Any, end: Any) => void (conn.params === "it" && gone.push(end.reason)),
      } as Any),
    );
    await subject.connect({ raw: true, params: "it" });
    await world.settle();
    expect(gone).toEqual(["rivetkit.internal_error"]);
  });

  it("onWebSocket: one that destroys its actor and throws tells its socket what it threw", async () => {
    const { subject, world } = single(
      actor({
        onWebSocket: (c: Any) => {
          c.destroy();
          throw new Error("boom");
        },
      } as Any),
    );
    const socket = await subject.connect({ raw: true });
    await world.settle();
    expect([socket.end?.reason, subject.store.keys]).toEqual(["rivetkit.internal_error", []]);
  });

  it("a listener of a raw socket: what it changed is told to onStateChange as it ends", async () => {
    const told: unknown[] = [];
    const { subject } = single(
      actor({
        state: { heard: "" },
        onStateChange: (_c: Any, state: Any) => void told.push(state.heard),
        onWebSocket: (c: Any, socket: Any) => {
          socket.onmessage = ({ data }: Any) => void (c.state.heard = data);
        },
      } as Any),
    );
    const socket = await subject.connect({ raw: true });
    await socket.sayRaw("x");
    expect(told).toEqual(["x"]);
  });
});
