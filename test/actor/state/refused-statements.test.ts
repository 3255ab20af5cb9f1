import { describe, expect, it } from "vitest";
import { actor, queue, workflow, type AnyActorDefinition } from "../../../src/actor/index.js";
import { encodeValue } from "../../../src/protocol/index.js";
import { single, StateSubject, type Single } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- what clients send
type Any = any;

const codeOf = (run: () => unknown): string => {
  try {
    run();
    return "was taken";
  } catch (error) {
    return (error as Any).code ?? (error as Error).name;
  }
};
const told = async (reply: Promise<unknown>): Promise<unknown> => reply.catch((error: Any) => error.code);
const nested = (levels: number, inside: unknown = 1): Any =>
  Array.from({ length: levels }).reduce((value) => [value], inside);

describe("a statement of an array that is refused", () => {
  const bad = (): void => {};
  const statements: [name: string, run: (list: Any[]) => unknown][] = [
    ["unshift", (list) => list.unshift(bad)],
    ["unshift of several", (list) => list.unshift(8, { deep: [bad] }, 9)],
    ["splice", (list) => list.splice(1, 0, bad)],
    ["splice that removes", (list) => list.splice(0, 2, 7, bad)],
    ["push of several", (list) => list.push(9, bad)],
    ["fill", (list) => list.fill(bad)],
    ["fill of a part", (list) => list.fill({ bad }, 1, 2)],
    ["an index", (list) => (list[1] = bad)],
    ["an index beyond the end", (list) => (list[9] = bad)],
    ["a length that has no room", (list) => (list.length = 3_000_000)],
    ["an index that has no room", (list) => (list[3_000_000] = 1)],
    ["a length that is none", (list) => (list.length = -1)],
    [
      "a sort whose comparison throws",
      (list) =>
        list.sort(() => {
          throw Object.assign(new Error("no"), { code: "no" });
        }),
    ],
    ["a property that is not an element", (list) => ((list as Any).name = "x")],
    ["too deep", (list) => list.push(nested(256))],
    ["the array itself", (list) => list.push(list)],
    ["the array in something new", (list) => list.unshift({ in: [list] })],
  ];
  for (const [name, run] of statements) {
    it(`changes nothing: ${name}`, async () => {
      const subject = new StateSubject<Any>({ list: [1, { two: 2 }, 3] });
      let code = "";
      await subject.edit(({ state }) => void (code = codeOf(() => run(state.list))));
      expect(["not_serializable", "too_large", "RangeError", "no"]).toContain(code);
      expect(await subject.edit(({ state }) => state)).toEqual({ list: [1, { two: 2 }, 3] });
      expect(await subject.restarted()).toEqual({ list: [1, { two: 2 }, 3] });
    });
  }

  it("leaves what was handed in with it as it was, views in it included", async () => {
    const subject = new StateSubject<Any>({ a: { n: 1 }, list: [] });
    let isView = false;
    await subject.edit(({ state }) => {
      const given = { part: state.a, bad: () => {} };
      codeOf(() => state.list.push(given));
      isView = given.part === state.a;
    });
    expect(isView).toBe(true);
  });
});

describe("any statement that is refused", () => {
  it("says where, how large and how large it may be", async () => {
    const subject = new StateSubject<Any>({ deep: { texts: [] as string[] }, map: new Map() });
    const errors: Any[] = [];
    await subject.edit(({ state }) => {
      for (const run of [
        () => state.deep.texts.push("small", "x".repeat(2_000_001)),
        () => (state.deep.text = "x".repeat(2_000_001)),
        () => state.map.set("key", ["x".repeat(2_000_001)]),
        () => (state.many = Array.from({ length: 2_000_001 }, () => 1)),
      ]) {
        try {
          run();
        } catch (error) {
          errors.push(error);
        }
      }
    });
    const limitBytes = 2_000_000;
    expect(errors.map(({ code, statusCode, metadata }) => ({ code, statusCode, ...metadata }))).toEqual(
      ["state.deep.texts[1]", "state.deep.text", 'state.map.get("key")', "state.many"].map((path) => ({
        code: "too_large",
        statusCode: 413,
        path,
        limitBytes,
        sizeBytes: expect.toSatisfy((size: number) => size > limitBytes),
      })),
    );
    expect(await subject.restarted()).toEqual({ deep: { texts: [] }, map: new Map() });
  });

  it("counts depth along the longest way to where it stands", async () => {
    const subject = new StateSubject<Any>({ shallow: {}, deep: nested(200, [{}]) });
    const codes = await subject.edit(({ state }) => {
      let inner = state.deep;
      while (Array.isArray(inner)) inner = inner[0];
      // The object is 203 deep, and soon also 2 deep: new members must fit the deeper place.
      state.shallow.alias = inner;
      return [
        codeOf(() => (state.shallow.alias.more = nested(53))),
        codeOf(() => (state.shallow.alias.more = nested(54))),
        codeOf(() => (state.shallow.other = nested(254))),
        codeOf(() => (state.shallow.other = nested(255))),
      ];
    });
    expect(codes).toEqual(["was taken", "not_serializable", "was taken", "not_serializable"]);
    await subject.restarted();
  });

  it("refuses a cycle by whatever way, at the statement that would close it", async () => {
    const subject = new StateSubject<Any>({ a: { b: { c: {} } }, map: new Map(), list: [[]] });
    const own: Any = {};
    own.self = own;
    const codes = await subject.edit(({ state }) => [
      codeOf(() => (state.a.b.c.up = state.a)),
      codeOf(() => (state.a.b.c.up = [{ deep: state.a.b }])),
      codeOf(() => state.map.set("self", state.map)),
      codeOf(() => state.map.set(state.map, 1)),
      codeOf(() => state.list[0].push(state)),
      codeOf(() => (state.own = own)),
      codeOf(() => Object.assign(state.a, { again: state.a })),
    ]);
    expect(new Set(codes as string[])).toEqual(new Set(["not_serializable"]));
    expect(await subject.restarted()).toEqual({ a: { b: { c: {} } }, map: new Map(), list: [[]] });
  });

  it("refuses shared objects that would be too large when written out, in time", async () => {
    const subject = new StateSubject<Any>({});
    let dag: Any = { leaf: "x".repeat(10) };
    for (let level = 0; level < 40; level++) dag = { left: dag, right: dag };
    let code = "";
    await subject.edit(({ state }) => void (code = codeOf(() => (state.dag = dag))));
    expect(code).toBe("too_large");
    expect(await subject.restarted()).toEqual({});
  });

  it("a state at its limit keeps all that it has, and takes what replaces as much", async () => {
    const subject = new StateSubject<{ readings: number[] }>({ readings: [] });
    const batch = Array.from({ length: 9_000 }, (_, index) => index + 0.5);
    let taken = 0;
    // The most that one call of a client may hold.
    while ((await told(subject.edit(({ state }) => void state.readings.push(...batch)))) === undefined) taken += 1;
    expect(taken).toBeGreaterThan(20);
    expect(subject.stored().readings).toHaveLength(taken * 9_000);
    await subject.edit(({ state }) => void codeOf(() => state.readings.push(nested(256))));
    expect((await subject.restarted()).readings).toHaveLength(taken * 9_000);
    await subject.edit(({ state }) => {
      while (codeOf(() => state.readings.push(1.5)) === "was taken");
      for (let i = 0; i < 200; i++) {
        state.readings.shift();
        state.readings.push(i + 0.5);
      }
    });
    const stored = subject.stored();
    expect(stored.readings.at(-1)).toBe(199.5);
    expect(encodeValue(stored).length).toBeLessThanOrEqual(2_000_000);
    expect(encodeValue(stored).length).toBeGreaterThan(1_999_980);
  });
});

describe("a caller whose statement is refused", () => {
  function bank(): Single {
    const one: Single = single(
      actor({
        state: {
          users: [
            { name: "alice", balance: 0 },
            { name: "bob", balance: 0 },
          ] as Any[],
          done: new Map<string, number>(),
          total: 0,
          notes: [] as Any[],
        },
        queues: { jobs: queue<number>() },
        run: async (c: Any) => {
          const { done } = c.state;
          for await (const message of c.queue.iter({ completable: true })) {
            c.state.total += message.body;
            done.set(String(message.id), message.body);
            await message.complete("completed");
          }
        },
        actions: {
          deposit: async (c: Any, name: string, amount: number) => {
            const user = c.state.users.find((each: Any) => each.name === name);
            await one.world.clock.delay(1_000);
            user.balance += amount;
            return user.balance;
          },
          open: (c: Any, profile: unknown) => void c.state.users.unshift({ name: "new", profile, secret: () => {} }),
          note: (c: Any, note: unknown) => void c.state.notes.push(note),
          pay: (c: Any, n: number) => c.queue.enqueueAndWait("jobs", n, { timeout: 5_000 }),
          get: (c: Any) => ({ users: c.state.users, done: c.state.done, total: c.state.total }),
        },
      } as never) as AnyActorDefinition,
    );
    return one;
  }

  it("is told alone: what others hold of the state is theirs, and their effects are stored", async () => {
    const { world, subject } = bank();
    await subject.call("get");
    const deposit = subject.call("deposit", "alice", 50);
    await world.settle();
    expect(await told(subject.call("open", {}))).toBe("not_serializable");
    await world.pass(1_000);
    expect(await deposit).toBe(50);
    subject.crash();
    expect(await subject.call("get")).toMatchObject({
      users: [
        { name: "alice", balance: 50 },
        { name: "bob", balance: 0 },
      ],
    });
  });

  it("costs a run handler nothing of what it holds and has answered", async () => {
    const { world, subject } = bank();
    await subject.call("get");
    await world.settle();
    const pay = async (n: number): Promise<unknown> => {
      const reply = subject.call("pay", n);
      await world.settle();
      return reply;
    };
    expect(await pay(1)).toBe("completed");
    for (let i = 0; i < 3; i++) expect(await told(subject.call("note", nested(300)))).toBe("not_serializable");
    for (let n = 2; n <= 20; n++) expect(await pay(n)).toBe("completed");
    subject.crash();
    const { total, done } = (await subject.call("get")) as Any;
    expect([total, done.size, [...done.values()].reduce((sum: number, n: number) => sum + n, 0)]).toEqual([
      210, 20, 210,
    ]);
  });

  it("fails no step, no scheduled action and no call that runs beside it", async () => {
    const one: Single = single(
      actor({
        state: { blob: "", ran: [] as string[] },
        run: workflow(async (ctx: Any) => {
          await ctx.step("slow", async () => void (await one.world.clock.delay(500)));
        }),
        actions: {
          later: (c: Any) => c.schedule.after(100, "scheduled"),
          scheduled: async (c: Any) => {
            await one.world.clock.delay(500);
            c.state.ran.push("scheduled");
          },
          slow: async (c: Any) => {
            c.state.ran.push("slow");
            await one.world.clock.delay(500);
            return "done";
          },
          tooMuch: async (c: Any) => {
            try {
              c.state.blob = "x".repeat(3_000_000);
            } finally {
              await one.world.clock.delay(5);
            }
          },
          get: (c: Any) => [c.state.ran, c.state.blob, c.workflow.status().status],
        },
      } as never) as AnyActorDefinition,
    );
    const { subject, world } = one;
    await subject.call("later");
    const slow = subject.call("slow");
    await world.pass(100);
    const refused = told(subject.call("tooMuch"));
    await world.pass(10);
    expect(await refused).toBe("too_large");
    await world.passUntilQuiet();
    expect(await slow).toBe("done");
    expect(await subject.call("get")).toEqual([["slow", "scheduled"], "", "completed"]);
  });
});
