import { describe, expect, it } from "vitest";
import { actor, workflow } from "../../../src/actor/index.js";
import { single, StateSubject } from "../subject.js";

describe("state", () => {
  it("keeps what an action changes at any depth, and shows it after a restart", async () => {
    const subject = new StateSubject({ user: { name: "Ada", tags: ["a"] }, count: 0 });
    await subject.edit(({ state }) => {
      state.user.name = "Grace";
      state.user.tags.push("b");
      state.count += 1;
    });
    expect(await subject.restarted()).toEqual({ user: { name: "Grace", tags: ["a", "b"] }, count: 1 });
  });

  it("is replaced as a whole by an assignment", async () => {
    const subject = new StateSubject<unknown>({ old: true });
    await subject.edit((c) => {
      c.state = { fresh: [1, 2] };
      (c.state as { fresh: number[] }).fresh.push(3);
    });
    expect(await subject.restarted()).toEqual({ fresh: [1, 2, 3] });
    await subject.edit((c) => {
      c.state = 7;
    });
    expect(await subject.restarted()).toBe(7);
  });

  it("gives the same object for the same part of it, however often it is asked (B4)", async () => {
    const subject = new StateSubject({ list: [{ id: 1 }], map: new Map([["k", { id: 2 }]]) });
    expect(
      await subject.edit(({ state }) => [
        state.list === state.list,
        state.list[0] === state.list[0],
        state.map.get("k") === state.map.get("k"),
        state.list.includes(state.list[0] as { id: number }),
      ]),
    ).toEqual([true, true, true, true]);
  });

  it("takes parts of itself back: a filtered list, a sorted one, a moved object, a spread", async () => {
    const subject = new StateSubject({
      list: [{ id: 3 }, { id: 1 }, { id: 2 }],
      box: { inner: { n: 1 } },
      moved: undefined as unknown,
    });
    await subject.edit(({ state }) => {
      state.list = state.list.filter((each) => each.id !== 2);
      state.list.sort((a, b) => a.id - b.id);
      state.list = [...state.list, { ...(state.list[0] as { id: number }), id: 9 }];
      state.moved = { from: state.box.inner };
    });
    await subject.edit(({ state }) => {
      (state.list[0] as { id: number }).id = 10;
    });
    expect(await subject.restarted()).toEqual({
      list: [{ id: 10 }, { id: 3 }, { id: 9 }],
      box: { inner: { n: 1 } },
      moved: { from: { n: 1 } },
    });
  });

  it("stores every way of changing a list", async () => {
    const changes: ((list: number[]) => unknown)[] = [
      (list) => list.push(4),
      (list) => list.pop(),
      (list) => list.shift(),
      (list) => list.unshift(0),
      (list) => list.splice(1, 1, 8, 9),
      (list) => list.reverse(),
      (list) => list.sort((a, b) => b - a),
      (list) => list.fill(5),
      (list) => list.copyWithin(0, 1),
      (list) => (list.length = 1),
      (list) => (list[5] = 6),
      (list) => Reflect.deleteProperty(list, 0),
      (list) => Object.assign(list, [7, 8]),
    ];
    for (const change of changes) {
      const subject = new StateSubject({ list: [1, 2, 3] });
      const plain = [1, 2, 3];
      change(plain);
      await subject.edit(({ state }) => void change(state.list));
      expect((await subject.restarted()).list, String(change)).toEqual(plain);
    }
  });

  it("stores every way of changing an object", async () => {
    const subject = new StateSubject<Record<string, unknown>>({ gone: 1, kept: 2 });
    await subject.edit(({ state }) => {
      delete state["gone"];
      Object.defineProperty(state, "defined", { value: 3, enumerable: true, configurable: true, writable: true });
      Object.assign(state, { assigned: 4 });
      state["__proto__"] = { data: true };
    });
    const stored = await subject.restarted();
    expect(Object.keys(stored).sort()).toEqual(["__proto__", "assigned", "defined", "kept"]);
    expect(Object.getOwnPropertyDescriptor(stored, "__proto__")?.value).toEqual({ data: true });
  });

  it("stores every way of changing a Map, what is deep in it included", async () => {
    const subject = new StateSubject({
      map: new Map<unknown, unknown>([
        ["a", { n: 1 }],
        ["b", 2],
        ["c", 3],
      ]),
    });
    await subject.edit(({ state: { map } }) => {
      (map.get("a") as { n: number }).n = 10;
      map.set("d", { list: [] }).set("e", 5);
      (map.get("d") as { list: number[] }).list.push(1);
      map.delete("b");
      for (const [key, value] of map) if (key === "a") (value as { n: number }).n += 1;
      map.forEach((value, key) => {
        if (key === "d") (value as { list: number[] }).list.push(2);
      });
      for (const value of map.values()) if (typeof value === "object") (value as { seen: boolean }).seen = true;
    });
    expect(await subject.restarted()).toEqual({
      map: new Map<unknown, unknown>([
        ["a", { n: 11, seen: true }],
        ["c", 3],
        ["d", { list: [1, 2], seen: true }],
        ["e", 5],
      ]),
    });
    await subject.edit(({ state: { map } }) => map.clear());
    expect((await subject.restarted()).map.size).toBe(0);
  });

  it("stores what the newest methods of a Map change, where the engine has them", async () => {
    type Newer = Map<unknown, unknown> & {
      getOrInsert?(key: unknown, value: unknown): unknown;
      getOrInsertComputed?(key: unknown, make: (key: unknown) => unknown): unknown;
    };
    const subject = new StateSubject({ map: new Map<unknown, unknown>() as Newer, kept: { id: 1 } });
    await subject.edit(({ state }) => {
      const { map } = state;
      if (map.getOrInsert) map.getOrInsert("a", 1);
      else map.set("a", 1);
      if (map.getOrInsertComputed) map.getOrInsertComputed("b", () => state.kept);
      else map.set("b", state.kept);
    });
    expect((await subject.restarted()).map).toEqual(
      new Map<unknown, unknown>([
        ["a", 1],
        ["b", { id: 1 }],
      ]),
    );
  });

  it("stores every way of changing a Set", async () => {
    const subject = new StateSubject({ set: new Set<unknown>(["a", "b"]) });
    await subject.edit(({ state: { set } }) => {
      set.add("c").add({ n: 1 });
      set.delete("a");
      for (const each of set) if (typeof each === "object") (each as { n: number }).n = 2;
    });
    expect(await subject.restarted()).toEqual({ set: new Set<unknown>(["b", "c", { n: 2 }]) });
  });

  it("stores what is changed in lists that a Map or a Set holds, however they are reached", async () => {
    const subject = new StateSubject({ map: new Map([["k", [1]]]), set: new Set([[1]]) });
    await subject.edit(({ state: { map, set } }) => {
      map.get("k")?.push(2);
      for (const list of map.values()) list.push(3);
      for (const [, list] of map) list.push(4);
      for (const [, list] of map.entries()) list.push(5);
      map.forEach((list) => list.push(6));
      for (const list of set) list.push(2);
      for (const [, list] of set.entries()) list.push(3);
      set.forEach((list) => list.push(4));
    });
    expect(await subject.restarted()).toEqual({
      map: new Map([["k", [1, 2, 3, 4, 5, 6]]]),
      set: new Set([[1, 2, 3, 4]]),
    });
  });

  it("finds objects in Maps and Sets by the objects that it gave out", async () => {
    const subject = new StateSubject({ set: new Set([{ id: 1 }]), map: new Map([[{ id: 2 }, "value"]]) });
    expect(
      await subject.edit(({ state: { set, map } }) => {
        const [inSet] = set;
        const [key] = map.keys();
        return [set.has(inSet as { id: number }), map.get(key as { id: number })];
      }),
    ).toEqual([true, "value"]);
  });

  it("stores a Date that is moved, and gives one that reads as a Date", async () => {
    const subject = new StateSubject({ when: new Date(0), read: [] as unknown[] });
    await subject.edit(({ state }) => {
      state.when.setUTCFullYear(2000);
      state.read = [
        state.when.getTime(),
        new Date(state.when).toISOString(),
        Number(state.when),
        JSON.stringify(state.when),
        state.when instanceof Date,
      ];
    });
    const iso = "2000-01-01T00:00:00.000Z";
    expect(await subject.restarted()).toEqual({
      when: new Date(iso),
      read: [Date.parse(iso), iso, Date.parse(iso), JSON.stringify(iso), true],
    });
  });

  it("stores a typed array that is changed in place, and only the view's own bytes", async () => {
    const large = new ArrayBuffer(800_000);
    const subject = new StateSubject({
      bytes: Uint8Array.of(1, 2, 3),
      floats: Float64Array.of(1.5),
      view: new Uint8Array(large, 8, 4),
    });
    await subject.edit(({ state }) => {
      state.bytes[1] = 20;
      state.floats.fill(2.5);
    });
    expect(subject.single.subject.store.dump().get("s")?.byteLength).toBeLessThan(1_000);
    expect(await subject.restarted()).toEqual({
      bytes: Uint8Array.of(1, 20, 3),
      floats: Float64Array.of(2.5),
      view: new Uint8Array(4),
    });
    const { rows } = subject.single.subject.store;
    await subject.edit(({ state }) => state.bytes.length);
    expect(subject.single.subject.store.rows - rows, "a look changes nothing").toBe(0);
  });

  it("can be returned by an action whatever is in it", async () => {
    const state = {
      map: new Map([["k", { deep: new Set([1]) }]]),
      when: new Date(5),
      bytes: Uint8Array.of(1),
      big: 5n,
      none: undefined,
      list: [[new Date(6)]],
      re: /x/g,
    };
    const subject = new StateSubject(state);
    expect(await subject.edit((c) => c.state)).toEqual(state);
    expect(await subject.edit((c) => c.state.map)).toEqual(state.map);
    expect(await subject.edit((c) => ({ wrapped: [c.state.list, c.state.when] }))).toEqual({
      wrapped: [state.list, state.when],
    });
  });

  it("is usual data to the language: JSON, spread, keys, in, destructuring, Array methods", async () => {
    const subject = new StateSubject({ a: 1, nested: { list: [1, 2, 3] } });
    expect(
      await subject.edit(({ state }) => ({
        json: JSON.stringify(state),
        spread: { ...state.nested },
        keys: Object.keys(state),
        isIn: ["a" in state, "b" in state],
        isArray: Array.isArray(state.nested.list),
        mapped: state.nested.list.map((each) => each * 2),
        concat: state.nested.list.concat([4]),
        entries: Object.entries(state.nested),
      })),
    ).toEqual({
      json: '{"a":1,"nested":{"list":[1,2,3]}}',
      spread: { list: [1, 2, 3] },
      keys: ["a", "nested"],
      isIn: [true, false],
      isArray: true,
      mapped: [2, 4, 6],
      concat: [1, 2, 3, 4],
      entries: [["list", [1, 2, 3]]],
    });
  });

  it("shares an object that is in it twice until a restart, and then holds two", async () => {
    const subject = new StateSubject<{ a: { n: number }; b?: { n: number } }>({ a: { n: 1 } });
    await subject.edit(({ state }) => {
      state.b = state.a;
      state.b.n = 2;
    });
    expect(subject.stored()).toEqual({ a: { n: 2 }, b: { n: 2 } });
    await subject.restarted();
    await subject.edit(({ state }) => {
      (state.b as { n: number }).n = 3;
    });
    expect(await subject.restarted()).toEqual({ a: { n: 2 }, b: { n: 3 } });
  });

  it("holds what was assigned: a change through the assigned object itself in the same callback is stored", async () => {
    const subject = new StateSubject<{ item?: { n: number } }>({});
    await subject.edit(({ state }) => {
      const item = { n: 1 };
      state.item = item;
      item.n = 2;
    });
    expect(await subject.restarted()).toEqual({ item: { n: 2 } });
  });

  it("takes frozen values, as immutable libraries make them, and lets them be changed", async () => {
    const subject = new StateSubject<{ doc?: { items: { n: number }[] } }>({});
    const frozen = Object.freeze({ items: Object.freeze([Object.freeze({ n: 1 })]) as { n: number }[] });
    await subject.edit(({ state }) => {
      state.doc = frozen;
      expect(state.doc.items.map((each) => each.n)).toEqual([1]);
      (state.doc.items[0] as { n: number }).n = 2;
      state.doc.items.push({ n: 3 });
    });
    expect(await subject.restarted()).toEqual({ doc: { items: [{ n: 2 }, { n: 3 }] } });
    expect(frozen.items).toEqual([{ n: 1 }]);
  });

  it("costs one row for a thousand changes in one action, and none for changes that end where they began", async () => {
    const subject = new StateSubject({ list: [] as number[], n: 0 });
    await subject.edit(() => {});
    const { store } = subject.single.subject;
    const before = store.rows;
    await subject.edit(({ state }) => {
      for (let i = 0; i < 1_000; i += 1) state.list.push(i);
    });
    expect(store.rows - before).toBe(1);
    await subject.edit(({ state }) => {
      state.n += 1;
      state.n -= 1;
    });
    expect(store.rows - before).toBe(1);
  });

  it("goes along, as far as an action has changed it, with the commit of another action (B8)", async () => {
    const { world, subject } = single(
      actor({
        state: { slow: 0, quick: 0 },
        actions: {
          slow: async (c) => {
            c.state.slow = 1;
            await world.clock.delay(1_000);
            c.state.slow = 2;
          },
          quick: (c) => {
            c.state.quick = 1;
          },
          get: (c) => c.state,
        },
      }),
    );
    await subject.call("get");
    const slow = subject.call("slow").catch(() => {});
    await subject.call("quick");
    subject.crash();
    expect(await subject.call("get")).toEqual({ slow: 1, quick: 1 });
    await world.pass(1_000);
    void slow;
    expect(await subject.call("get"), "what is left of an activation that died changes nothing").toEqual({
      slow: 1,
      quick: 1,
    });
  });

  it("is stored at the end of the turn when code changes it that no callback waits for (B8)", async () => {
    const subject = new StateSubject({ n: 0 });
    await subject.edit(({ state }) => {
      subject.single.world.clock.setTimer(subject.single.world.clock.now() + 10, () => {
        state.n = 5;
      });
    });
    expect(subject.stored()).toEqual({ n: 0 });
    await subject.single.world.pass(10);
    expect(subject.stored()).toEqual({ n: 5 });
  });
});

describe("assigning what cannot be stored", () => {
  class Custom {
    n = 1;
  }
  const unstorable: Record<string, unknown> = {
    function: () => {},
    symbol: Symbol("s"),
    class: new Custom(),
    promise: Promise.resolve(),
    weakMap: new WeakMap(),
    accessor: Object.defineProperty({}, "x", { get: () => 1, enumerable: true }),
  };

  for (const [kind, value] of Object.entries(unstorable)) {
    it(`throws at the assignment and names the path: ${kind} (B5)`, async () => {
      const subject = new StateSubject<{
        a: { list: unknown[] };
        map: Map<string, unknown>;
        set: Set<unknown>;
        n: number;
      }>({ a: { list: [0] }, map: new Map(), set: new Set(), n: 0 });
      const paths = (await subject.edit(({ state }) => {
        const pathOf = (assign: () => void): string => {
          try {
            assign();
          } catch (error) {
            expect(error).toMatchObject({ group: "value", code: "not_serializable" });
            return (error as { message: string }).message;
          }
          return "was taken";
        };
        const paths = [
          pathOf(() => (state.a.list[0] = value)),
          pathOf(() => state.a.list.push({ deep: [value] })),
          pathOf(() => state.map.set("k", value)),
          pathOf(() => state.set.add(value)),
          pathOf(() => Object.assign(state, { fresh: value })),
        ];
        state.n = 1;
        return paths;
      })) as string[];
      expect(paths[0]).toMatch(/^Value at state\.a\.list\[0\]/);
      expect(paths[1]).toMatch(/^Value at state\.a\.list\[1\]\.deep\[0\]/);
      expect(paths[2]).toMatch(/^Value at state\.map/);
      expect(paths[3]).toMatch(/^Value at state\.set/);
      expect(paths[4]).toMatch(/^Value at state\.fresh/);
      expect(await subject.restarted(), "what was right stays").toEqual({
        a: { list: [0] },
        map: new Map(),
        set: new Set(),
        n: 1,
      });
    });
  }

  it("throws when the whole state is assigned, and leaves it", async () => {
    const subject = new StateSubject<unknown>({ n: 1 });
    await expect(subject.edit((c) => (c.state = { n: 2, bad: () => {} }))).rejects.toMatchObject({
      code: "not_serializable",
      message: expect.stringContaining("state.bad"),
    });
    expect(await subject.restarted()).toEqual({ n: 1 });
  });

  it("refuses accessors, symbol keys, another prototype and freezing", async () => {
    const subject = new StateSubject<Record<string | symbol, unknown>>({ n: 1 });
    const refused = await subject.edit(({ state }) => {
      const attempts: (() => unknown)[] = [
        () => Object.defineProperty(state, "x", { get: () => 1 }),
        () => (state[Symbol("s")] = 1),
        () => Object.setPrototypeOf(state, Array.prototype),
        () => Object.freeze(state),
      ];
      return attempts.map((attempt) => {
        try {
          attempt();
          return "was taken";
        } catch {
          return "refused";
        }
      });
    });
    expect(refused).toEqual(["refused", "refused", "refused", "refused"]);
    expect(await subject.restarted()).toEqual({ n: 1 });
  });

  it("tells a cycle where it would be made, and changes nothing", async () => {
    const subject = new StateSubject<Record<string, unknown>>({ n: 1, box: {} });
    await expect(
      subject.edit(({ state }) => {
        (state["box"] as Record<string, unknown>)["self"] = state;
      }),
    ).rejects.toMatchObject({ group: "value", code: "not_serializable", message: expect.stringContaining("cycle") });
    expect(await subject.edit(({ state }) => state)).toEqual({ n: 1, box: {} });
    expect(await subject.restarted()).toEqual({ n: 1, box: {} });
  });

  it("tells what makes it too large where it stands, with size and limit; what fitted before it stays", async () => {
    const subject = new StateSubject({ list: ["first"] });
    const grow = subject.edit(({ state }) => {
      for (let i = 0; i < 6; i += 1) state.list.push("x".repeat(400_000));
    });
    await expect(grow).rejects.toMatchObject({
      group: "value",
      code: "too_large",
      statusCode: 413,
      metadata: { limitBytes: 2_000_000, sizeBytes: expect.any(Number), path: expect.any(String) },
    });
    await subject.edit(({ state }) => state.list.push("second"));
    expect(await subject.restarted()).toEqual({
      list: ["first", ...Array.from({ length: 4 }, () => "x".repeat(400_000)), "second"],
    });
  });
});

describe("a step's view of the state", () => {
  it("is dead once the attempt has ended, with every object got from it", async () => {
    const kept: Record<string, unknown> = {};
    const { world, subject } = single(
      actor({
        state: { n: 0, list: [{ id: 1 }], map: new Map([["k", { id: 2 }]]), set: new Set([1]), when: new Date(0) },
        run: workflow(async (ctx) => {
          await ctx.step("leaks", (step) => {
            const { state } = step;
            Object.assign(kept, {
              step,
              state,
              list: state.list,
              item: state.list[0],
              map: state.map,
              inMap: state.map.get("k"),
              set: state.set,
              when: state.when,
              iterator: state.map.values(),
            });
            state.n = 1;
          });
        }),
        actions: { get: (c) => c.state },
      }),
    );
    await subject.call("get");
    await world.settle();
    type Kept = {
      step: { state: unknown; vars: unknown };
      state: { n: number };
      list: unknown[];
      item: { id: number };
      map: Map<string, unknown>;
      inMap: { id: number };
      set: Set<number>;
      when: Date;
      iterator: Iterator<unknown>;
    };
    const { step, state, list, item, map, inMap, set, when, iterator } = kept as unknown as Kept;
    const uses: (() => unknown)[] = [
      () => step.state,
      () => step.vars,
      () => state.n,
      () => (state.n = 5),
      () => list.push(1),
      () => list.length,
      () => item.id,
      () => (item.id = 5),
      () => map.get("k"),
      () => map.set("x", 1),
      () => (inMap.id = 5),
      () => set.add(2),
      () => when.setTime(5),
      () => Object.keys(state),
      () => iterator.next().value,
    ];
    for (const use of uses)
      expect(use, String(use)).toThrow(expect.objectContaining({ group: "workflow", code: "step_ended" }));
    expect(await subject.call("get")).toEqual({
      n: 1,
      list: [{ id: 1 }],
      map: new Map([["k", { id: 2 }]]),
      set: new Set([1]),
      when: new Date(0),
    });
  });

  it("is the same live state that actions see while the step runs", async () => {
    const { world, subject } = single(
      actor({
        state: { n: 0 },
        run: workflow(async (ctx) => {
          await ctx.step("slow", async (step) => {
            step.state.n += 1;
            await world.clock.delay(1_000);
            step.state.n += 10;
          });
        }),
        actions: {
          add: (c) => {
            c.state.n += 100;
            return c.state.n;
          },
          get: (c) => c.state.n,
        },
      }),
    );
    await subject.call("get");
    await world.settle();
    expect(await subject.call("add")).toBe(101);
    await world.pass(1_000);
    expect(await subject.call("get")).toBe(111);
    subject.crash();
    expect(await subject.call("get")).toBe(111);
  });
});

describe("an actor without state", () => {
  it("says so when its state is asked for (B2)", async () => {
    const { subject, log } = single(actor({ actions: { get: (c) => c.state } }));
    await expect(subject.call("get")).rejects.toMatchObject({
      group: "actor",
      code: "state_not_enabled",
      statusCode: 500,
    });
    expect(log.map(({ entry }) => String(entry["stack"])).join()).toContain("State not enabled. Must implement");
    expect(subject.store.keys).toEqual(["a"]);
  });
});
