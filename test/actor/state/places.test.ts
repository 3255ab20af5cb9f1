import { describe, expect, it, vi } from "vitest";
import { StateSubject } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- states of several kinds
type Any = any;

describe("an object that stands in several places", () => {
  it("is one until the next commit, and then stays where it has been longest; the other place has a copy", async () => {
    const subject = new StateSubject<Any>({ list: [{ n: 1 }, { n: 2 }], top: null });
    let held: Any;
    await subject.edit(({ state }) => {
      held = state.list[0];
      state.top = held;
      state.top.n = 10;
    });
    expect(subject.stored()).toEqual({ list: [{ n: 10 }, { n: 2 }], top: { n: 10 } });
    await subject.edit(({ state }) => {
      held.n = 20;
      state.top.n = 30;
    });
    expect(await subject.restarted()).toEqual({ list: [{ n: 20 }, { n: 2 }], top: { n: 30 } });
  });

  const moves: [name: string, move: (list: Any[], state: Any) => void, at: (state: Any) => Any][] = [
    ["a swap", (list) => ([list[0], list[2]] = [list[2], list[0]]), (state) => state.list[2]],
    ["shift and push", (list) => void list.push(list.shift()), (state) => state.list[2]],
    ["push, then removal", (list) => void (list.push(list[0]) && list.splice(0, 1)), (state) => state.list[2]],
    [
      "unshift of what splice gave",
      (list) => void list.unshift(list.splice(1, 1)[0], list.shift()),
      (state) => state.list[1],
    ],
    ["filter", (list, state) => void (state.list = list.filter((each) => each.id !== 2)), (state) => state.list[0]],
    ["sort", (list) => void list.sort((a, b) => b.id - a.id), (state) => state.list[2]],
    ["reverse", (list) => void list.reverse(), (state) => state.list[2]],
    ["a move into a Map", (list, state) => void state.map.set("k", list.shift()), (state) => state.map.get("k")],
    [
      "a move into something new",
      (list, state) => void (state.box = { inner: [list.shift()] }),
      (state) => state.box.inner[0],
    ],
    [
      "delete, then assignment",
      (list, state) => {
        const [first] = list;
        delete list[0];
        state.other = first;
      },
      (state) => state.other,
    ],
    [
      "a whole new state around it",
      (list, state) => void Object.assign(state, { list: [], wrap: { list: [...list] } }),
      (state) => state.wrap.list[0],
    ],
  ];
  for (const [name, move, at] of moves) {
    it(`that moves is the same to whoever holds it, over commits: ${name}`, async () => {
      const subject = new StateSubject<Any>({
        list: [
          { id: 1, n: 0 },
          { id: 2, n: 0 },
          { id: 3, n: 0 },
        ],
        map: new Map(),
      });
      let held: Any;
      await subject.edit(({ state }) => {
        held = state.list[0];
        move(state.list, state);
        held.n = 1;
      });
      await subject.edit(({ state }) => {
        expect(at(state)).toBe(held);
        held.n += 1;
      });
      expect(at(await subject.restarted())).toEqual({ id: 1, n: 2 });
    });
  }

  it("keeps the older slot of one array, wherever the younger one was put", async () => {
    const subject = new StateSubject<Any>({ list: [{ id: 1 }, { id: 2 }] });
    let held: Any;
    await subject.edit(({ state }) => {
      held = state.list[1];
      state.list.unshift(held);
    });
    await subject.edit(({ state }) => {
      held.changed = true;
      expect(state.list[2]).toBe(held);
    });
    expect(await subject.restarted()).toEqual({ list: [{ id: 2 }, { id: 1 }, { id: 2, changed: true }] });
  });

  it("that was taken out, and comes back later, is separate from what stayed", async () => {
    const subject = new StateSubject<Any>({ box: { deep: { n: 1 } } });
    let box: Any;
    await subject.edit(({ state }) => {
      box = state.box;
      state.kept = box.deep;
      delete state.box;
    });
    await subject.edit(({ state }) => {
      state.kept.n = 2;
      state.back = { wrap: box };
    });
    await subject.edit(({ state }) => {
      state.kept.n = 3;
      state.back.wrap.deep.n = 4;
    });
    expect(await subject.restarted()).toEqual({ kept: { n: 3 }, back: { wrap: { deep: { n: 4 } } } });
  });

  it("does not stand in what was taken out: a list that is made anew for each item takes time by its length only", async () => {
    // Counts calls of `Map.get`: the parents of an object beyond two are in a Map.
    const questions = async (versions: number): Promise<number> => {
      const subject = new StateSubject<Any>({ list: [], byId: {}, nested: { byId: {} } });
      const asked = vi.spyOn(Map.prototype, "get");
      await subject.edit(({ state }) => {
        for (let id = 0; id < versions; id++) {
          state.list = [...state.list, { id }];
          state.byId = { ...state.byId, [id]: state.list.at(-1) };
          state.nested = { ...state.nested, byId: { ...state.nested.byId, [id]: { id } } };
        }
        state.byId[3].seen = true;
      });
      const count = asked.mock.calls.length;
      asked.mockRestore();
      const { list, byId, nested } = await subject.restarted();
      expect([list[3], byId[3], list.length, Object.keys(nested.byId).length]).toEqual([
        { id: 3, seen: true },
        { id: 3, seen: true },
        versions,
        versions,
      ]);
      return count;
    };
    // Each version holds all items, so twice as many are four times the work. If items stayed in former versions: eight
    // times.
    expect((await questions(80)) / (await questions(40))).toBeLessThan(5);
  });

  it("is found in what comes back: a statement that would make a cycle of the two is refused, in the same callback or later", async () => {
    for (const isLater of [true, false]) {
      const subject = new StateSubject<Any>({ box: { deep: { inner: {} } } });
      let box: Any;
      let refused: Any;
      const takeOut = ({ state }: Any): void => {
        box = state.box;
        state.kept = box.deep.inner;
        delete state.box;
      };
      const comeBack = ({ state }: Any): void => {
        try {
          state.kept.back = [box];
        } catch (error) {
          refused = error;
        }
        state.kept.n = 1;
        state.back = box;
      };
      if (isLater) {
        await subject.edit(takeOut);
        await subject.edit(comeBack);
      } else {
        await subject.edit((c) => {
          takeOut(c);
          comeBack(c);
        });
      }
      expect([refused.code, refused.message]).toEqual(["not_serializable", expect.stringContaining("cycle")]);
      expect(subject.single.subject.crashes).toBe(0);
      expect((await subject.restarted()).kept).toEqual({ n: 1 });
    }
  });

  it("in ten thousand, twice each, are separated in no more time than they take", async () => {
    const subject = new StateSubject<Any>({ items: Array.from({ length: 10_000 }, (_, id) => ({ id })) });
    await subject.edit(({ state }) => void (state.visible = state.items.filter((each: Any) => each.id % 2 === 0)));
    await subject.edit(({ state }) => void (state.visible[0].seen = true));
    const { items, visible } = await subject.restarted();
    expect([items.length, visible.length, items[0], visible[0]]).toEqual([
      10_000,
      5_000,
      { id: 0 },
      { id: 0, seen: true },
    ]);
  });
});

describe("an array's indexOf, lastIndexOf and includes", () => {
  it("compare what is behind views and references", async () => {
    const subject = new StateSubject<Any>({
      rooms: [{ name: "a" }, { name: "b" }, { name: "c" }],
      errors: [new Error("e")],
      patterns: [/x/g],
    });
    const own = { name: "own" };
    const seen = await subject.edit(({ state }) => {
      const b = state.rooms[1];
      state.rooms.push(own);
      const found = [
        state.rooms.indexOf(b),
        state.rooms.lastIndexOf(b),
        state.rooms.includes(b),
        state.rooms.indexOf(own),
        state.rooms.includes(own),
        state.rooms.indexOf({ name: "b" }),
        state.errors.includes(state.errors[0]),
        state.patterns.indexOf(state.patterns[0]),
        state.rooms.indexOf(b, 2),
        state.rooms.includes(undefined),
      ];
      state.rooms.splice(state.rooms.indexOf(b), 1);
      return found;
    });
    expect(seen).toEqual([1, 1, true, 3, true, -1, true, 0, -1, false]);
    expect((await subject.restarted()).rooms.map(({ name }: Any) => name)).toEqual(["a", "c", "own"]);
  });
});
