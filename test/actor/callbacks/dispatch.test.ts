import { describe, expect, it } from "vitest";
import { actor, queue, setup } from "../../../src/actor/index.js";
import { encodeValue, UserError } from "../../../src/protocol/index.js";
import { testWorld } from "../../support/test-world.js";
import { single } from "../subject.js";

class Custom {
  n = 1;
}

describe("an action", () => {
  it("is found by its path when actions are nested, and nothing else is (A14, A16)", async () => {
    const { subject } = single(
      actor({
        state: { users: [] as string[] },
        actions: {
          users: {
            add: (c, name: string) => {
              c.state.users.push(name);
              return c.state.users.length;
            },
            admin: { clear: (c) => void (c.state.users = []) },
          },
        },
      }),
    );
    expect(await subject.call("users.add", "Ada")).toBe(1);
    expect(await subject.call("users.add", "Grace")).toBe(2);
    expect(await subject.call("users.admin.clear")).toBe(undefined);
    expect(await subject.call("users.add", "Ada")).toBe(1);
    for (const name of ["users", "add", "users.", ".add", "users.admin"]) {
      await expect(subject.call(name)).rejects.toMatchObject({
        group: "actor",
        code: "action_not_found",
        statusCode: 404,
        message: `Action \`${name}\` was not found.`,
      });
    }
  });

  it("gets its arguments as they were sent, and gives its result, whatever values they are", async () => {
    const { subject } = single(actor({ actions: { echo: (_c, ...args: unknown[]) => args } }));
    const values = [
      undefined,
      null,
      0,
      -0,
      Number.NaN,
      1n,
      "",
      new Date(5),
      new Map([[{ k: 1 }, new Set([2])]]),
      Uint8Array.of(1, 2),
      /x/gi,
      [[[]]],
    ];
    expect(await subject.call("echo", ...values)).toEqual(values);
    expect(await subject.call("echo")).toEqual([]);
  });

  it("interleaves with others at its awaits (A19)", async () => {
    const order: string[] = [];
    const { world, subject } = single(
      actor({
        state: { n: 0 },
        actions: {
          slow: async (c, name: string, waitMs: number) => {
            order.push(`${name} begins with ${c.state.n}`);
            c.state.n += 1;
            await world.clock.delay(waitMs);
            order.push(`${name} ends with ${c.state.n}`);
            return c.state.n;
          },
          add: (c) => void (c.state.n += 1),
        },
      }),
    );
    await subject.call("add");
    const results = [subject.call("slow", "a", 20), subject.call("slow", "b", 10)];
    await world.pass(20);
    expect(await Promise.all(results)).toEqual([3, 3]);
    expect(order).toEqual(["a begins with 1", "b begins with 2", "b ends with 3", "a ends with 3"]);
  });

  it("answers 408 after its timeout, aborts its signal, and what it does later is still stored (A17)", async () => {
    const reasons: unknown[] = [];
    const { world, subject } = single(
      actor({
        state: { late: false },
        actions: {
          hang: async (c) => {
            c.abortSignal.addEventListener("abort", () =>
              reasons.push((c.abortSignal.reason as { code: string }).code),
            );
            await world.clock.delay(5_000);
            c.state.late = true;
          },
          get: (c) => c.state.late,
        },
        options: { actionTimeout: 1_000 },
      }),
    );
    await subject.call("get");
    const failed = expect(subject.call("hang")).rejects.toMatchObject({
      group: "actor",
      code: "action_timed_out",
      statusCode: 408,
      message: "Action timed out",
    });
    await world.pass(999);
    expect(reasons).toEqual([]);
    await world.pass(1);
    await failed;
    expect(reasons).toEqual(["action_timed_out"]);
    expect(subject.timersHeld).toBe(0);
    expect(await subject.call("get"), "others are served").toBe(false);
    await world.pass(5_000);
    subject.crash();
    expect(await subject.call("get")).toBe(true);
  });

  it("that is not asynchronous knows no timeout, however long it takes (A18)", async () => {
    const { world, subject } = single(
      actor({
        actions: {
          compute: (c) => {
            world.clock.moveTo(world.clock.now() + 60_000);
            return [c.aborted, 42];
          },
        },
        options: { actionTimeout: 1 },
      }),
    );
    expect(await subject.call("compute")).toEqual([false, 42]);
    expect(subject.timersHeld).toBe(0);
  });

  it("aborts the signal of the one that timed out alone", async () => {
    const aborted: string[] = [];
    const { world, subject } = single(
      actor({
        actions: {
          wait: async (c, name: string, waitMs: number) => {
            c.abortSignal.addEventListener("abort", () => aborted.push(name));
            await world.clock.delay(waitMs);
            return c.aborted;
          },
          touch: () => {},
        },
        options: { actionTimeout: 1_000 },
      }),
    );
    await subject.call("touch");
    const slow = expect(subject.call("wait", "slow", 2_000)).rejects.toMatchObject({ code: "action_timed_out" });
    await world.pass(500);
    const quick = subject.call("wait", "quick", 600);
    await world.pass(1_500);
    await slow;
    expect(await quick).toBe(false);
    expect(aborted).toEqual(["slow"]);
  });

  it("holds no timer when it is over", async () => {
    const { world, subject } = single(actor({ actions: { wait: () => world.clock.delay(10), sync: () => 1 } }));
    await subject.call("sync");
    const waiting = subject.call("wait");
    await world.turn();
    expect(subject.timersHeld).toBe(1);
    await world.pass(10);
    await waiting;
    expect(subject.timersHeld).toBe(0);
  });

  it("passes a user's error whole, and masks any other, which is logged with the id that the caller gets (A22, A23)", async () => {
    const { subject, log } = single(
      actor({
        actions: {
          user: () => {
            throw new UserError("Not enough", { code: "insufficient", metadata: { missing: 5 } });
          },
          plain: () => {
            throw new UserError("No reason");
          },
          secret: () => {
            throw new Error("password is 1234");
          },
          value: async () => {
            throw "a secret text";
          },
        },
      }),
    );
    await expect(subject.call("user")).rejects.toMatchObject({
      group: "user",
      code: "insufficient",
      message: "Not enough",
      metadata: { missing: 5 },
      statusCode: 400,
    });
    await expect(subject.call("plain")).rejects.toMatchObject({ group: "user", code: "user_error", statusCode: 400 });
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
    for (const [name, text] of [
      ["secret", "password is 1234"],
      ["value", "a secret text"],
    ] as const) {
      const error = (await subject.call(name).catch((thrown: unknown) => thrown)) as {
        code: string;
        message: string;
        metadata: { errorId: string };
      };
      expect(error).toMatchObject({
        group: "rivetkit",
        code: "internal_error",
        statusCode: 500,
        message: "An internal error occurred",
      });
      expect(JSON.stringify(error) + error.message).not.toContain(text);
      const logged = log.find(({ entry }) => entry["errorId"] === error.metadata.errorId);
      expect(String(logged?.entry["stack"])).toContain(text);
    }
  });

  it("keeps what it changed before it threw, and has it stored before the error is seen (A24)", async () => {
    const { subject } = single(
      actor({
        state: { n: 0 },
        actions: {
          fail: (c) => {
            c.state.n += 1;
            throw new UserError("no");
          },
          get: (c) => c.state.n,
        },
      }),
    );
    await expect(subject.call("fail")).rejects.toMatchObject({ group: "user" });
    subject.crash();
    expect(await subject.call("get")).toBe(1);
  });

  for (const [kind, stored] of [
    ["crash-before", 1],
    ["crash-after", 2],
  ] as const) {
    it(`fails for its caller when the object dies before its change is known to be stored (${kind})`, async () => {
      const { subject } = single(
        actor({
          state: { n: 0 },
          actions: {
            add: (c) => {
              c.state.n += 1;
              return c.state.n;
            },
            get: (c) => c.state.n,
          },
        }),
        { fault: (_actor, commit) => (commit === 2 ? kind : undefined) },
      );
      expect(await subject.call("add")).toBe(1);
      await expect(subject.call("add")).rejects.toMatchObject({ code: "restarting", statusCode: 503 });
      expect(await subject.call("get")).toBe(stored);
    });
  }

  it("answers actor/restarting when the store refuses what it changed; the next one finds what was stored", async () => {
    let refuse = false;
    const { subject } = single(
      actor({
        state: { n: 0 },
        actions: {
          add: (c) => {
            c.state.n += 1;
            return c.state.n;
          },
        },
      }),
      { fault: () => (refuse ? "refuse" : undefined) },
    );
    expect(await subject.call("add")).toBe(1);
    refuse = true;
    await expect(subject.call("add")).rejects.toMatchObject({ group: "actor", code: "restarting", statusCode: 503 });
    refuse = false;
    expect(await subject.call("add")).toBe(2);
  });

  it("whose result cannot be stored or sent says so, and keeps what it changed", async () => {
    const results: Record<string, unknown> = { function: () => {}, class: new Custom(), large: "x".repeat(2_000_001) };
    const { subject } = single(
      actor({
        state: { n: 0 },
        actions: {
          give: (c, kind: string) => {
            c.state.n += 1;
            return results[kind];
          },
          get: (c) => c.state.n,
        },
      }),
    );
    await expect(subject.call("give", "function")).rejects.toMatchObject({
      group: "value",
      code: "not_serializable",
      statusCode: 400,
    });
    await expect(subject.call("give", "class")).rejects.toMatchObject({
      group: "value",
      code: "not_serializable",
      statusCode: 400,
    });
    await expect(subject.call("give", "large")).rejects.toMatchObject({
      group: "value",
      code: "too_large",
      statusCode: 413,
    });
    expect(await subject.call("get")).toBe(3);
  });

  it("finds no actor's own or inherited members under its name", async () => {
    const { subject } = single(actor({ actions: { real: () => 1 } }));
    for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty", ""]) {
      await expect(subject.call(name)).rejects.toMatchObject({ code: "action_not_found", statusCode: 404 });
    }
  });

  it("is refused when its arguments are not a list", async () => {
    const { subject } = single(actor({ actions: { touch: () => 1 } }));
    const reply = await subject.send(
      { mode: "getOrCreate" },
      { kind: "action", name: "touch", args: encodeValue({ length: 0 }) },
    );
    expect(reply).toMatchObject({ ok: false, status: 400, error: { group: "actor", code: "invalid_request" } });
  });

  it("calls another actor only when what it changed before is stored", async () => {
    const stored: unknown[] = [];
    const world = testWorld(
      setup({
        use: {
          caller: actor({
            state: { n: 0 },
            actions: {
              call: async (c) => {
                c.state.n = 7;
                return c.client().callee.getOrCreate(["k"]).look();
              },
            },
          }),
          callee: actor({
            actions: {
              look: () => {
                stored.push(world.actor("caller", ["k"]).store.commits);
                return "seen";
              },
            },
          }),
        },
      }),
    );
    const caller = world.actor("caller", ["k"]);
    expect(await caller.call("call")).toBe("seen");
    // The creation and the change, in one.
    expect(stored).toEqual([1]);
  });

  it("that saves at once has it stored when saveState resolves (B6)", async () => {
    const { world, subject } = single(
      actor({
        state: { n: 0 },
        actions: {
          save: async (c) => {
            c.state.n = 5;
            await c.saveState({ immediate: true });
            await world.clock.delay(1_000);
          },
          get: (c) => c.state.n,
        },
      }),
    );
    await subject.call("get");
    void subject.call("save").catch(() => {});
    await world.turn();
    await world.turn();
    subject.crash();
    expect(await subject.call("get")).toBe(5);
  });
});

describe("a message from outside", () => {
  const definition = () =>
    actor({
      state: { n: 0 },
      queues: {
        open: queue<number>(),
        closed: queue<number>({ canPublish: () => false }),
        maybe: queue<number>({ canPublish: (c) => c.state.n > 0 }),
      },
      actions: {
        open: (c) => {
          c.state.n = 1;
        },
        size: (c) => c.queue.tryNextBatch({ count: 100 }).then((messages) => messages.length),
      },
      options: { maxQueueSize: 3, maxQueueMessageSize: 100 },
    });

  const send = (name: string, body: unknown) => ({ kind: "send", queue: name, body: encodeValue(body) }) as const;

  it("is stored when it is answered", async () => {
    const { subject } = single(definition());
    expect(await subject.send({ mode: "getOrCreate" }, send("open", 1))).toMatchObject({ ok: true });
    subject.crash();
    expect(await subject.call("size")).toBe(1);
  });

  it("is refused where it may not be, is too large, or one too many; nothing is stored then", async () => {
    const { subject } = single(definition());
    const refused = async (name: string, body: unknown = 1) => {
      const { rows } = subject.store;
      const reply = await subject.send({ mode: "getOrCreate" }, send(name, body));
      expect(subject.store.rows).toBe(rows);
      return reply.ok ? "taken" : `${reply.error.group}/${reply.error.code} ${reply.status}`;
    };
    await subject.call("size");
    expect(await refused("closed")).toBe("auth/forbidden 403");
    expect(await refused("maybe")).toBe("auth/forbidden 403");
    expect(await refused("unheard of")).toBe("queue/not_declared 404");
    expect(await refused("constructor")).toBe("queue/not_declared 404");
    expect(await refused("open", "x".repeat(101))).toBe("queue/message_too_large 413");
    await subject.call("open");
    for (const name of ["maybe", "open", "open"])
      expect(await subject.send({ mode: "getOrCreate" }, send(name, 1))).toMatchObject({ ok: true });
    expect(await refused("open")).toBe("queue/full 429");
  });

  it("costs one row, and a thousand of them write no alarm", async () => {
    const { subject } = single(actor({ state: 0, run: async () => {}, actions: { touch: () => {} } }));
    await subject.call("touch");
    const { rows, alarmWrites } = subject.store;
    for (let i = 0; i < 1_000; i += 1) await subject.send({ mode: "getOrCreate" }, send("any", i));
    expect(subject.store.rows - rows).toBe(1_000);
    expect(subject.store.alarmWrites - alarmWrites).toBe(0);
  });
});

describe("an operation that this release does not know", () => {
  it("is refused as unsupported", async () => {
    const { subject } = single(actor({ actions: { touch: () => 1 } }));
    await subject.call("touch");
    const reply = await subject.send({ mode: "getOrCreate" }, { kind: "from the future" } as never);
    expect(reply).toMatchObject({ ok: false, status: 501, error: { group: "feature", code: "unsupported" } });
  });
});

describe("onBeforeActionResponse", () => {
  /** An actor whose hook records its arguments and runs the test's code. */
  function hooked(
    respond: (c: { state: { n: number }; destroy(): void }, name: string, args: unknown[], output: unknown) => unknown,
  ) {
    const seen: unknown[] = [];
    const made = single(
      actor({
        state: { n: 0 },
        onStateChange: (_c, state) => void seen.push(`told n=${state.n}`),
        onBeforeActionResponse: (c, name, args, output) => {
          seen.push([name, args, output, (c as { conn?: unknown }).conn]);
          return respond(c, name, args, output);
        },
        actions: {
          add: (c, by: number, _label?: string) => {
            c.state.n += by;
            seen.push("added");
            return { n: c.state.n };
          },
          fail: (c) => {
            c.state.n += 1;
            throw new UserError("no", { code: "no" });
          },
          get: (c) => c.state.n,
          plan: (c) => c.schedule.after(1_000, "add", 100),
          end: (c) => c.destroy(),
        },
        options: { actionTimeout: 2_000 },
      }),
    );
    return { ...made, seen };
  }

  it("makes what the caller gets, after the action and what is told of its changes (A25)", async () => {
    const { subject, seen } = hooked((_c, name, args, output) => ({ name, args: args.length, output }));
    expect(await subject.call("add", 2, "two")).toEqual({ name: "add", args: 2, output: { n: 2 } });
    expect(seen).toEqual(["added", "told n=2", ["add", [2, "two"], { n: 2 }, undefined]]);
  });

  it("may take its time, give nothing, and change the state, which is stored before the caller is answered", async () => {
    const { world, subject } = hooked(async (c) => {
      await world.turn();
      c.state.n += 10;
    });
    expect(await subject.call("add", 1)).toBe(undefined);
    subject.crash();
    expect(
      ((await subject.send({ mode: "get" }, { kind: "resolve" })).ok && subject.store.dump().get("s")) as unknown,
    ).toBeDefined();
    const again = hooked((_c, _name, _args, output) => output);
    again.subject.store.restore(subject.store.dump());
    expect(await again.subject.call("get")).toBe(11);
  });

  it("that throws is the caller's error; what the action changed stays", async () => {
    let fails = true;
    const { subject } = hooked((_c, _name, _args, output) => {
      if (fails) throw new UserError("not this", { code: "not_this" });
      return output;
    });
    await expect(subject.call("add", 1)).rejects.toMatchObject({
      group: "user",
      code: "not_this",
      message: "not this",
    });
    fails = false;
    subject.crash();
    expect(await subject.call("get")).toBe(1);
  });

  it("that takes longer than actionTimeout is actor/callback_timed_out, and leaves no timer", async () => {
    const { world, subject } = hooked(() => new Promise(() => {}));
    const failed = expect(subject.call("add", 1)).rejects.toMatchObject({
      group: "actor",
      code: "callback_timed_out",
      metadata: { callback_name: "onBeforeActionResponse", duration_ms: 2_000 },
    });
    await world.pass(1_999);
    expect(subject.timersHeld).toBe(1);
    await world.pass(1);
    await failed;
    expect(subject.timersHeld).toBe(0);
  });

  it("whose result cannot be stored or sent says so", async () => {
    const { subject } = hooked(() => () => {});
    await expect(subject.call("get")).rejects.toMatchObject({ group: "value", code: "not_serializable" });
  });

  it("does not run for an action that throws, nor for one that the schedule runs", async () => {
    const { world, subject, seen } = hooked((_c, _name, _args, output) => output);
    await expect(subject.call("fail")).rejects.toMatchObject({ code: "no" });
    await subject.call("plan");
    seen.splice(0);
    await world.pass(1_000);
    expect(seen).toEqual(["added", "told n=101"]);
  });

  it("belongs to the call: an actor that the action ends waits for it", async () => {
    const { world, subject, seen } = hooked(async () => {
      await world.clock.delay(1_000);
      seen.push("the hook is over");
      return "bye";
    });
    const ended = subject.call("end");
    await world.pass(999);
    expect(subject.store.keys).toContain("a");
    await world.pass(1);
    expect(await ended).toBe("bye");
    await world.settle();
    expect(subject.store.keys).toEqual([]);
  });
});

describe("an access rule that hangs", () => {
  it("is actor/callback_timed_out after actionTimeout, and does not outlive its actor", async () => {
    const { world, subject } = single(
      actor({
        queues: { hangs: queue({ canPublish: () => new Promise<boolean>(() => {}) }) },
        actions: { end: (c) => c.destroy(), touch: () => {} },
        options: { actionTimeout: 1_000 },
      }),
    );
    const send = () => subject.send({ mode: "getOrCreate" }, { kind: "send", queue: "hangs", body: encodeValue(1) });
    const first = send();
    await world.pass(1_000);
    expect(await first).toMatchObject({
      ok: false,
      status: 408,
      error: { group: "actor", code: "callback_timed_out", metadata: { callback_name: "canPublish" } },
    });
    const second = send();
    await world.turn();
    await subject.call("end");
    await world.settle();
    expect(await second).toMatchObject({ ok: false, status: 404, error: { code: "destroyed" } });
    expect(subject.timersHeld).toBe(0);
  });
});
