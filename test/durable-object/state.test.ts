import { describe, expect, it } from "vitest";
import { actor, setup, snapshot } from "../../src/entry/index.js";
import { serve } from "../support/worker.js";
import { TestObject } from "./test-object.js";

// What ordinary-looking calls of clients do to the state, on the real runtime.

// oxlint-disable-next-line typescript/no-explicit-any -- what clients send
type Any = any;

const nested = (levels: number): Any => Array.from({ length: levels }).reduce((value) => [value], 1);

serve(
  setup({
    use: {
      fleet: actor({
        state: {
          ships: {} as Record<string, Any>,
          list: [1, 2, 3] as Any[],
          readings: [] as number[],
          users: [{ name: "alice", balance: 0 }] as Any[],
          answer: undefined as Any,
        },
        actions: {
          destroyShip: (c, id: string) => {
            const ship = c.state.ships[id];
            if (ship) ship.destroyed = true;
            return ship !== undefined;
          },
          mark: (c, id: string, field: string) => void ((c.state.ships[id] ??= {})[field] = 1),
          unshift: (c) => void c.state.list.unshift((() => {}) as never),
          read: (c, count: number) => {
            const batch = Array.from({ length: count }, (_, i) => i + 0.5);
            for (const reading of batch) c.state.readings.push(reading);
          },
          readAll: (c, count: number) =>
            void c.state.readings.push(...Array.from({ length: count }, (_, i) => i + 0.5)),
          nest: (c) => void c.state.list.push(nested(300)),
          deposit: async (c, amount: number) => {
            const [alice] = c.state.users;
            await scheduler.wait(20);
            alice.balance += amount;
          },
          refused: (c) => void c.state.users.unshift({ name: "eve", run: () => {} }),
          stream: async (c) => {
            const answer = { text: "" };
            c.state.answer = answer;
            c.broadcast("started");
            for (const token of ["a", "b", "c"]) {
              await scheduler.wait(1);
              answer.text += token;
            }
          },
          poison: async (c) => {
            const made: Any = {};
            c.state.answer = made;
            await c.saveState({ immediate: true });
            made.self = made;
          },
          clone: (c) => structuredClone(snapshot(c.state.users)),
          get: (c) => ({
            ships: c.state.ships,
            list: c.state.list,
            readings: c.state.readings.length,
            users: c.state.users,
            answer: c.state.answer,
          }),
        },
      }),
    },
  }),
);

const codeOf = (reply: Promise<unknown>): Promise<unknown> =>
  reply.then(
    () => "was taken",
    (error: Any) => error.code,
  );

describe("the state of an actor", () => {
  it("reaches no prototype by a name that a client sent: other actors of the isolate go on", async () => {
    const fleet = new TestObject("fleet", "names");
    const other = new TestObject("fleet", "other");
    await other.call("mark", "x", "y");
    for (const id of ["__proto__", "constructor"]) {
      expect(await fleet.call("destroyShip", id), id).toBe(false);
      await fleet.call("mark", id, "destroyed");
    }
    // A function of ours, frozen.
    expect(await codeOf(fleet.call("destroyShip", "toString"))).toBe("internal_error");
    expect(({} as Any).destroyed).toBe(undefined);
    await other.evict();
    expect(await other.call("get")).toMatchObject({ ships: { x: { y: 1 } } });
    await fleet.evict();
    const { ships } = (await fleet.call("get")) as Any;
    expect(Object.getOwnPropertyDescriptor(ships, "__proto__")?.value).toEqual({ destroyed: 1 });
  });

  it("keeps everything at its limit, whatever is refused", async () => {
    const fleet = new TestObject("fleet", "limit");
    let taken = 0;
    while ((await codeOf(fleet.call("readAll", 9_000))) === "was taken") taken += 1;
    expect(taken).toBe(24);
    expect(await codeOf(fleet.call("nest"))).toBe("not_serializable");
    expect(await codeOf(fleet.call("unshift"))).toBe("not_serializable");
    await fleet.evict();
    expect(await fleet.call("get")).toMatchObject({ readings: 216_000, list: [1, 2, 3] });
  });

  it("gives what was refused to nobody else", async () => {
    const fleet = new TestObject("fleet", "others");
    await fleet.call("get");
    const deposit = fleet.call("deposit", 50);
    expect(await codeOf(fleet.call("refused"))).toBe("not_serializable");
    await deposit;
    await fleet.evict();
    expect(await fleet.call("get")).toMatchObject({ users: [{ name: "alice", balance: 50 }] });
    expect(await fleet.call("clone")).toEqual([{ name: "alice", balance: 50 }]);
  });

  it("stores what is written through a reference until the callback's end, or starts anew from what is stored", async () => {
    const fleet = new TestObject("fleet", "references");
    await fleet.call("stream");
    await fleet.evict();
    expect(await fleet.call("get")).toMatchObject({ answer: { text: "abc" } });
    await expect(fleet.call("poison")).rejects.toThrow("memory and storage differ");
    expect(await fleet.call("get")).toMatchObject({ answer: {}, list: [1, 2, 3] });
  });
});
