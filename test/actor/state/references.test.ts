import { describe, expect, it } from "vitest";
import { actor, setup, workflow, type AnyActorDefinition } from "../../../src/actor/index.js";
import { testWorld } from "../../support/test-world.js";
import { single, StateSubject, type Single } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- contexts and states of several kinds
type Any = any;

const codeOf = (reply: Promise<unknown>): Promise<unknown> =>
  reply.then(
    () => "was taken",
    (error: Any) => error.code,
  );

describe("an object that was handed in", () => {
  it("is part of the state: what is written through the caller's reference is stored at the end of its callback", async () => {
    const one: Single = single(
      actor({
        state: { messages: [] as Any[] },
        actions: {
          ask: async (c: Any) => {
            const message = { role: "assistant", content: "", parts: [] as string[] };
            c.state.messages.push(message);
            c.broadcast("started", message);
            for (const token of ["a", "b", "c"]) {
              await one.world.clock.delay(10);
              message.content += token;
              message.parts.push(token);
            }
            return message.content;
          },
          get: (c: Any) => c.state.messages,
        },
      } as never) as AnyActorDefinition,
    );
    const asked = one.subject.call("ask");
    await one.world.pass(40);
    expect(await asked).toBe("abc");
    one.subject.crash();
    expect(await one.subject.call("get")).toEqual([{ role: "assistant", content: "abc", parts: ["a", "b", "c"] }]);
  });

  it("is stored by a run handler that never ends, when it waits for its next message", async () => {
    const one: Single = single(
      actor({
        state: { last: {} as Any },
        run: async (c: Any) => {
          for await (const message of c.queue.iter()) {
            const answer = { text: "" };
            c.state.last = answer;
            c.broadcast("started");
            await one.world.clock.delay(10);
            answer.text = `answer to ${message.body}`;
          }
        },
        actions: { ask: (c: Any, text: string) => c.queue.send("q", text), get: (c: Any) => c.state.last },
      } as never) as AnyActorDefinition,
    );
    await one.subject.call("ask", "this");
    await one.world.pass(20);
    one.subject.crash();
    expect(await one.subject.call("get")).toEqual({ text: "answer to this" });
  });

  it("is stored by a step, an onRequest handler and a scheduled action alike", async () => {
    const late =
      (one: () => Single, name: string) =>
      async (c: Any): Promise<void> => {
        const made = { text: "" };
        c.state[name] = made;
        await one().world.clock.delay(5);
        made.text = name;
      };
    const one: Single = single(
      actor({
        state: {} as Any,
        run: workflow(
          async (ctx: Any) =>
            void (await ctx.step(
              "s",
              late(() => one, "step"),
            )),
        ),
        onRequest: async (c: Any) => {
          await late(() => one, "request")(c);
          return new Response("ok");
        },
        actions: {
          schedule: (c: Any) => c.schedule.after(1, "scheduled"),
          scheduled: late(() => one, "scheduled"),
          get: (c: Any) => c.state,
        },
      } as never) as AnyActorDefinition,
    );
    await one.subject.call("schedule");
    const answer = one.subject.fetch("/");
    await one.world.passUntilQuiet();
    await answer;
    one.subject.crash();
    expect(await one.subject.call("get")).toEqual({
      step: { text: "step" },
      request: { text: "request" },
      scheduled: { text: "scheduled" },
    });
  });

  it("is stored by whoever asks for it to be saved, before its callback has ended", async () => {
    const subject = new StateSubject<Any>({});
    let stored: unknown;
    await subject.edit(async (c: Any) => {
      const made = { text: "" };
      c.state.made = made;
      await c.saveState({ immediate: true });
      made.text = "later";
      await c.saveState({ immediate: true });
      stored = subject.stored();
    });
    expect(stored).toEqual({ made: { text: "later" } });
  });

  it("is stored with the next change when it is written after its callback has ended", async () => {
    const subject = new StateSubject<Any>({ n: 0 });
    const made: Any = { text: "" };
    await subject.edit(({ state }) => void (state.made = made));
    made.text = "much later";
    expect(subject.stored().made.text).toBe("");
    await subject.edit(({ state }) => void (state.n += 1));
    expect(await subject.restarted()).toEqual({ n: 1, made: { text: "much later" } });
  });

  it("shows what is written on either side on the other", async () => {
    const subject = new StateSubject<Any>({});
    const seen: unknown[] = [];
    await subject.edit(({ state }) => {
      const made: Any = { list: [], map: new Map(), at: new Date(0) };
      state.made = made;
      made.list.push({ n: 1 });
      state.made.list[0].n = 2;
      made.map.set("k", { v: 1 });
      state.made.map.get("k").v = 2;
      made.at.setTime(5);
      seen.push(
        made.list[0].n,
        state.made.list.length,
        made.map.get("k").v,
        state.made.at.getTime(),
        state.made.list.includes(made.list[0]),
        state.made.list.indexOf(made.list[0]),
      );
    });
    expect(seen).toEqual([2, 1, 2, 5, true, 0]);
    expect(await subject.restarted()).toEqual({
      made: { list: [{ n: 2 }], map: new Map([["k", { v: 2 }]]), at: new Date(5) },
    });
  });

  it("keeps parts of the state that were written into it, as those parts", async () => {
    const subject = new StateSubject<Any>({ user: { name: "Ada" } });
    await subject.edit(async (c: Any) => {
      const made: Any = { who: c.state.user, list: [c.state.user] };
      c.state.made = made;
      await c.saveState();
      made.again = c.state.user;
      made.list.push({ deep: c.state.user });
    });
    expect(await subject.restarted()).toEqual({
      user: { name: "Ada" },
      made: { who: { name: "Ada" }, list: [{ name: "Ada" }, { deep: { name: "Ada" } }], again: { name: "Ada" } },
    });
  });

  it("is looked at once for a commit, however often it has left the state and come back", async () => {
    const one: Single = single(
      actor({
        state: { ring: [] as Any[] },
        actions: {
          turn: async (c: Any) => {
            let looks = 0;
            c.state.ring.push(new Proxy({ n: 1 }, { ownKeys: (of) => (looks++, Reflect.ownKeys(of)) }), { n: 2 });
            const costs: number[] = [];
            for (let turn = 0; turn < 40; turn++) {
              c.state.ring.push(c.state.ring.shift());
              looks = 0;
              await c.saveState({ immediate: true });
              costs.push(looks);
            }
            return costs;
          },
        },
      } as never) as AnyActorDefinition,
    );
    const costs = (await one.subject.call("turn")) as number[];
    expect(costs.at(-1)).toBe(costs[4]);
  });

  it("costs a call that only reads no second look at the state, however much was handed in before", async () => {
    const subject = new StateSubject<Any>({ items: [] });
    for (let i = 0; i < 3; i++) await subject.edit(({ state }) => void state.items.push({ i }));
    const { store } = subject.single.subject;
    const before = store.rows;
    await subject.edit(({ state }) => state.items.length);
    expect(store.rows - before).toBe(0);
  });
});

describe("a state that a reference has made one that cannot be stored", () => {
  const actorWith = (write: (made: Any, c: Any) => void): Single =>
    single(
      actor({
        state: { n: 0 } as Any,
        actions: {
          add: (c: Any) => (c.state.n += 1),
          poison: async (c: Any) => {
            const made: Any = {};
            c.state.made = made;
            await c.saveState({ immediate: true });
            write(made, c);
          },
          get: (c: Any) => c.state,
        },
      } as never) as AnyActorDefinition,
    );
  const writes: [string, (made: Any, c: Any) => void][] = [
    ["a function", (made) => (made.run = () => {})],
    ["a class instance", (made) => (made.it = new (class Custom {})())],
    ["a cycle", (made) => (made.self = made)],
    ["a cycle through a view", (made, c) => (made.up = c.state)],
    ["more than it may hold", (made) => (made.text = "x".repeat(3_000_000))],
  ];
  for (const [name, write] of writes) {
    it(`drops the activation, names place and callback, and loses nothing that was answered: ${name}`, async () => {
      const { subject, log } = actorWith(write);
      for (let n = 1; n <= 3; n++) expect(await subject.call("add")).toBe(n);
      expect(await codeOf(subject.call("poison"))).toBe("restarting");
      expect(await subject.call("get")).toEqual({ n: 3, made: {} });
      expect(await subject.call("add")).toBe(4);
      const line = log.find(({ entry }) => entry["callbacks"]);
      expect(line?.entry).toMatchObject({ callbacks: ['action "poison"'] });
      expect(JSON.stringify(line?.entry)).toContain("made");
    });
  }
});

describe("what is copied when it is handed in", () => {
  it("is what is frozen, which stays as it is", async () => {
    const subject = new StateSubject<Any>({});
    const frozen = Object.freeze({
      list: Object.freeze([Object.freeze({ n: 1 })]),
      map: Object.freeze(new Map([["k", 1]])),
      open: { n: 1 },
    });
    await subject.edit(({ state }) => {
      state.doc = frozen;
      state.doc.list[0].n = 2;
      state.doc.list.push(3);
      state.doc.map.set("k", 2);
      state.doc.open.n = 5;
    });
    expect(await subject.restarted()).toEqual({
      doc: { list: [{ n: 2 }, 3], map: new Map([["k", 2]]), open: { n: 5 } },
    });
    expect([frozen.list, frozen.map, frozen.open]).toEqual([[{ n: 1 }], new Map([["k", 1]]), { n: 5 }]);
  });

  it("is found by what it was copied from", async () => {
    const subject = new StateSubject<Any>({ set: new Set(), map: new Map(), list: [] });
    const frozen = Object.freeze({ n: 1 });
    const bytes = Uint8Array.of(1);
    const found = await subject.edit(({ state }) => {
      state.set.add(frozen).add(frozen).add(bytes);
      state.map.set(frozen, "f").set(frozen, "g");
      state.list.push(frozen);
      return [
        state.set.size,
        state.set.has(frozen),
        state.set.has(bytes),
        state.map.size,
        state.map.get(frozen),
        state.list.indexOf(frozen),
        state.list.includes(frozen),
        state.set.delete(frozen),
      ];
    });
    expect(found).toEqual([2, true, true, 1, "g", 0, true, true]);
  });

  it("can be frozen by its owner later without harm", async () => {
    const subject = new StateSubject<Any>({});
    const made = { inner: { n: 1 }, list: [{ m: 1 }] };
    await subject.edit(({ state }) => {
      state.made = made;
      Object.freeze(made);
      Object.freeze(made.list);
      expect([state.made.inner.n, state.made.list[0].m]).toEqual([1, 1]);
    });
    await subject.edit(({ state }) => {
      state.made.inner.n = 2;
      state.made.list.push({ m: 2 });
    });
    expect(await subject.restarted()).toEqual({ made: { inner: { n: 2 }, list: [{ m: 1 }, { m: 2 }] } });
  });

  it("can be frozen by its owner in a later callback: what is written through the state is stored all the same", async () => {
    const subject = new StateSubject<Any>({ wrap: {} });
    const made = { inner: { n: 1 }, list: [{ m: 1 }], map: new Map([["k", { v: 1 }]]) };
    await subject.edit(({ state }) => void (state.wrap.made = made));
    await subject.edit(() => void [Object.freeze(made), Object.freeze(made.list)]);
    for (let time = 0; time < 2; time++) {
      await subject.edit(({ state }) => {
        state.wrap.made.inner.n += 1;
        state.wrap.made.list[0].m += 1;
        state.wrap.made.map.get("k").v += 1;
      });
      expect(subject.stored()).toEqual({
        wrap: { made: { inner: { n: 2 + time }, list: [{ m: 2 + time }], map: new Map([["k", { v: 2 + time }]]) } },
      });
    }
  });

  it("is what belongs to the state of a connection, and the other way round", async () => {
    const { subject } = single(
      actor({
        state: { p: { n: 1 } } as Any,
        createConnState: () => ({ q: { n: 0 } }) as Any,
        actions: {
          share: (c: Any) => {
            c.conn.state.q = c.state.p;
            c.conn.state.q.n = 2;
            c.state.r = c.conn.state.q;
            c.state.r.n = 3;
            return [c.state.p.n, c.conn.state.q.n, c.state.r.n];
          },
          get: (c: Any) => [c.state, c.conn.state],
        },
      } as never) as AnyActorDefinition,
    );
    const socket = await subject.connect();
    await socket.call(1, "share");
    await subject.evict();
    await socket.call(2, "get");
    expect(
      (socket.received as Any[]).filter(({ tag }) => tag === "ActionResponse").map(({ val }) => val.output),
    ).toEqual([
      [1, 2, 3],
      [{ p: { n: 1 }, r: { n: 3 } }, { q: { n: 2 } }],
    ]);
  });

  it("is what another actor holds, which is told in the log: a constant of a module is nobody's", async () => {
    const DEFAULTS = { theme: { dark: false }, tags: ["a"] };
    const log: Any[] = [];
    const tenant = actor({
      state: {} as Any,
      actions: {
        start: (c: Any) => void (c.state.settings = DEFAULTS),
        darken: (c: Any) => (c.state.settings.theme.dark = true),
        get: (c: Any) => c.state,
      },
    } as never);
    const world = testWorld(setup({ use: { tenant } } as never) as never, {
      onLog: (level, entry) => log.push({ level, ...(entry as object) }),
    });
    const [a, b] = [world.actor("tenant", ["a"]), world.actor("tenant", ["b"])];
    await a.call("start");
    await b.call("start");
    await b.call("darken");
    expect(await a.call("get")).toEqual({ settings: { theme: { dark: false }, tags: ["a"] } });
    expect(await b.call("get")).toEqual({ settings: { theme: { dark: true }, tags: ["a"] } });
    expect(log.filter(({ level, msg }) => level === "warn" && /copy/.test(msg))).toHaveLength(1);
  });

  it("is what the workflow has in hand: it sees the same before and after a crash", async () => {
    const seen: Any[] = [];
    const one: Single = single(
      actor({
        state: {} as Any,
        run: workflow(async (ctx: Any) => {
          const order = await ctx.step("order", () => ({ status: "new", items: [{ n: 1 }] }));
          const message = await ctx.queue.next("m", { names: ["q"] });
          const joined = await ctx.join("j", { a: { run: async (b: Any) => b.step("x", () => ({ v: 1 })) } });
          await ctx.step("pay", (step: Any) => {
            step.state.order = order;
            step.state.order.status = "paid";
            step.state.item = order.items[0];
            step.state.item.n = 2;
            step.state.body = message.body;
            step.state.body.read = true;
            step.state.joined = joined.a;
            step.state.joined.v = 2;
          });
          seen.push(structuredClone([order, message.body, joined]));
          await ctx.sleep("rest", 1_000);
        }),
        actions: { send: (c: Any) => c.queue.send("q", { text: "hi" }), get: (c: Any) => c.state },
      } as never) as AnyActorDefinition,
    );
    await one.subject.call("send");
    await one.world.settle();
    one.subject.crash();
    await one.world.pass(2_000);
    expect(seen.length).toBeGreaterThan(1);
    for (const each of seen)
      expect(each).toEqual([{ status: "new", items: [{ n: 1 }] }, { text: "hi" }, { a: { v: 1 } }]);
    expect(await one.subject.call("get")).toMatchObject({
      order: { status: "paid" },
      item: { n: 2 },
      body: { text: "hi", read: true },
      joined: { v: 2 },
    });
  });
});

describe("code of an activation that has ended", () => {
  it("is told so when it changes the state, and may still read it", async () => {
    const subject = new StateSubject<Any>({ n: 1, list: [1], map: new Map() });
    let kept: Any;
    await subject.edit((c) => void (kept = c));
    const { state } = kept;
    await subject.edit((c: Any) => c.sleep());
    await subject.single.world.passUntilQuiet();
    for (const write of [
      () => (state.n = 2),
      () => state.list.push(2),
      () => state.map.set("k", 1),
      () => delete state.n,
      () => (kept.state = {}),
    ]) {
      expect(write).toThrow(expect.objectContaining({ group: "actor", code: "ended" }));
    }
    expect([state.n, state.list.length]).toEqual([1, 1]);
    expect(await subject.restarted()).toEqual({ n: 1, list: [1], map: new Map() });
  });
});
