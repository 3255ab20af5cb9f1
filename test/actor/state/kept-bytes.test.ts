import { describe, expect, it } from "vitest";
import { snapshot } from "../../../src/actor/index.js";
import { StateSubject } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- states of several kinds
type Any = any;

describe("typed arrays and buffers", () => {
  it("are copies of a fixed length: what is done to the caller's own does not reach the state", async () => {
    const subject = new StateSubject<Any>({});
    const own = new Uint8Array(new ArrayBuffer(8, { maxByteLength: 16 } as never), 2, 3);
    await subject.edit(({ state }) => {
      state.bytes = own;
      state.buffer = own.buffer;
      own[0] = 9;
      expect(() => (state.buffer as Any).resize(16)).toThrow(TypeError);
      state.again = state.bytes;
      state.again[1] = 5;
    });
    expect(await subject.restarted()).toEqual({
      bytes: new Uint8Array(3),
      buffer: new ArrayBuffer(8),
      again: Uint8Array.of(0, 5, 0),
    });
  });

  it("are given out as they are, and stored as they were left", async () => {
    const subject = new StateSubject<Any>({
      floats: Float64Array.of(1, 2),
      list: [new Int16Array(2)],
      view: new DataView(new ArrayBuffer(4)),
    });
    await subject.edit(({ state }) => {
      state.floats.set([3, 4]);
      state.list[0].fill(7);
      state.view.setUint16(0, 258);
      new Uint8Array(state.floats.buffer)[15] = 0x40;
    });
    const { list, view } = await subject.restarted();
    expect([list, view.getUint16(0)]).toEqual([[Int16Array.of(7, 7)], 258]);
  });

  it("whose bytes were taken away are as they were last stored, which is told in the log", async () => {
    const subject = new StateSubject<Any>({
      a: Uint8Array.of(1, 2),
      deep: { list: [new ArrayBuffer(0), Uint8Array.of(7)] },
    });
    await subject.edit(({ state }) => void (state.a[0] = 5));
    await subject.edit(({ state }) => {
      state.a[1] = 6;
      (state.a.buffer as Any).transfer();
      structuredClone(state.deep.list[1], { transfer: [state.deep.list[1].buffer] });
      (state.deep.list[0] as Any).transfer();
    });
    expect(await subject.edit(({ state }) => [state.a, state.deep.list[1]])).toEqual([
      Uint8Array.of(5, 2),
      Uint8Array.of(7),
    ]);
    expect(await subject.restarted()).toEqual({
      a: Uint8Array.of(5, 2),
      deep: { list: [new ArrayBuffer(0), Uint8Array.of(7)] },
    });
    const paths = subject.single.log.filter(({ level }) => level === "warn").map(({ entry }) => entry["path"]);
    expect(paths.sort()).toEqual(["state.a", "state.deep.list[0]", "state.deep.list[1]"]);
  });

  it("may leave the state with their bytes gone", async () => {
    const subject = new StateSubject<Any>({ a: Uint8Array.of(1), box: { b: Uint8Array.of(2) } });
    await subject.edit(({ state }) => {
      (state.a.buffer as Any).transfer();
      delete state.a;
      (state.box.b.buffer as Any).transfer();
      state.box = {};
    });
    expect(await subject.restarted()).toEqual({ box: {} });
  });
});

describe("errors and regular expressions", () => {
  it("are copies: errors frozen, expressions fresh at each read", async () => {
    const subject = new StateSubject<Any>({});
    const failure = Object.assign(new RangeError("first", { cause: { why: [1] } }), { code: "E" });
    const pattern = /x/g;
    const seen = await subject.edit(({ state }) => {
      state.failure = failure;
      state.pattern = pattern;
      Object.assign(failure, { code: "changed", run: () => {} });
      state.pattern.test("x");
      const attempts = [
        () => (state.failure.message = "no"),
        () => (state.failure.cause = () => {}),
        () => state.failure.cause.why.push(2),
      ];
      const refused = attempts.map((attempt) => {
        try {
          attempt();
          return "was taken";
        } catch (error) {
          return (error as Error).name;
        }
      });
      return [
        refused,
        state.failure === state.failure,
        state.failure.code,
        state.pattern.lastIndex,
        state.pattern.test("x"),
        state.failure instanceof RangeError,
      ];
    });
    expect(seen).toEqual([["TypeError", "TypeError", "TypeError"], true, "E", 0, true, true]);
    const stored = await subject.restarted();
    expect([stored.failure.message, stored.failure.code, stored.failure.cause, String(stored.pattern)]).toEqual([
      "first",
      "E",
      { why: [1] },
      "/x/g",
    ]);
  });
});

describe("snapshot", () => {
  it("gives a plain copy of any part, for what takes no views", async () => {
    const subject = new StateSubject<Any>({
      order: { lines: [{ n: 1 }], at: new Date(0), tags: new Set(["a"]), by: new Map([["k", { v: 1 }]]) },
    });
    let copy: Any;
    let wrapped: Any;
    await subject.edit(({ state }) => {
      expect(() => structuredClone(state.order)).toThrow();
      copy = structuredClone(snapshot(state.order));
      wrapped = snapshot({ list: [state.order.lines, 2] });
      snapshot(state.order).lines.push("nowhere");
    });
    expect(copy).toEqual({ lines: [{ n: 1 }], at: new Date(0), tags: new Set(["a"]), by: new Map([["k", { v: 1 }]]) });
    expect(wrapped).toEqual({ list: [[{ n: 1 }], 2] });
    expect(copy.constructor).toBe(Object);
    expect((await subject.restarted()).order.lines).toEqual([{ n: 1 }]);
    expect(snapshot(5)).toBe(5);
    expect(() => snapshot({ run: () => {} })).toThrow(expect.objectContaining({ code: "not_serializable" }));
  });
});
