import { describe, expect, it } from "vitest";
import { actor, type AnyActorDefinition } from "../../../src/actor/index.js";
import type { MemorySocket } from "../../../src/testing/index.js";
import { single, type Single } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- contexts of several hooks
type Any = any;

const TOO_LARGE = "x".repeat(9_000);

function room(parts: object = {}): Single {
  const one: Single = single(
    actor({
      state: { n: 0 },
      createConnState: () => ({ text: "small" }) as Any,
      actions: {
        add: (c: Any) => (c.state.n += 1),
        fill: async (c: Any, ms: number) => {
          await one.world.clock.delay(ms);
          c.conn.state.text = TOO_LARGE;
        },
        fillOther: (c: Any) => void ([...c.conns.values()].find(({ params }) => params === "b").state.text = TOO_LARGE),
        cycle: (c: Any) => void (c.conn.state.self = [c.conn.state]),
        note: async (c: Any) => {
          const note = { text: "" };
          c.conn.state.note = note;
          await one.world.clock.delay(10);
          note.text = "through a reference";
        },
        bytes: (c: Any) => (c.conn.state.bytes ??= Uint8Array.of(0, 0)),
        poke: async (c: Any) => {
          const { bytes } = c.conn.state;
          await one.world.clock.delay(10);
          bytes[0] = 7;
        },
        state: (c: Any) => c.conn.state,
      },
      ...parts,
    } as never) as AnyActorDefinition,
  );
  return one;
}

const answers = ({ received }: MemorySocket): unknown[] =>
  received.flatMap(({ tag, val }: Any) =>
    tag === "Init" ? [] : [tag === "Error" ? `${val.group}/${val.code}` : val.output],
  );

describe("the state of a connection", () => {
  it("refuses the statement that would make it too large, and tells nobody else", async () => {
    const one = room({ onDisconnect: () => {} });
    const [a, b] = [await one.subject.connect({ params: "a" }), await one.subject.connect({ params: "b" })];
    const filling = a.call(1, "fill", 10);
    await one.world.settle();
    await b.call(1, "add");
    await one.world.pass(10);
    await filling;
    await a.call(2, "fillOther");
    await a.call(3, "cycle");
    await one.subject.evict();
    await a.call(4, "state");
    await b.call(2, "state");
    expect([answers(a), answers(b)]).toEqual([
      ["value/too_large", "value/too_large", "value/not_serializable", { text: "small" }],
      [1, { text: "small" }],
    ]);
    const [, failure] = a.received as Any[];
    expect(failure.val.metadata).toMatchObject({ path: "conn.state.text", limitBytes: 8_000, sizeBytes: 9_009 });
  });

  it("that its own onConnect would make too large refuses that caller alone", async () => {
    const one: Single = room({
      onConnect: async (_c: Any, conn: Any) => {
        if (conn.params !== "large") return;
        await one.world.clock.delay(10);
        conn.state.text = TOO_LARGE;
      },
    });
    const other = await one.subject.connect();
    const connecting = one.subject.connect({ params: "large" }).catch((error: Any) => `${error.group}/${error.code}`);
    await one.world.settle();
    await other.call(1, "add");
    expect(await one.subject.call("add")).toBe(2);
    await one.world.pass(10);
    expect(await connecting).toBe("value/too_large");
    expect(answers(other)).toEqual([1]);
  });

  it("is remembered as it was written through references and typed arrays, until the end of the callback", async () => {
    const one = room();
    const a = await one.subject.connect();
    const noting = a.call(1, "note");
    await one.world.pass(20);
    await noting;
    await a.call(2, "bytes");
    const poking = a.call(3, "poke");
    await one.world.pass(20);
    await poking;
    await one.subject.evict();
    await a.call(4, "state");
    expect(answers(a).at(-1)).toEqual({
      text: "small",
      note: { text: "through a reference" },
      bytes: Uint8Array.of(7, 0),
    });
  });

  it("drops the activation if a reference has made it one that cannot be stored, and loses nothing that was answered", async () => {
    const one = room({
      actions: {
        add: (c: Any) => (c.state.n += 1),
        poison: async (c: Any) => {
          const made: Any = {};
          c.conn.state.made = made;
          await one.world.clock.delay(10);
          made.text = TOO_LARGE;
        },
      },
    });
    const a = await one.subject.connect();
    await a.call(1, "add");
    const poisoned = a.call(2, "poison");
    await one.world.pass(20);
    await poisoned.catch(() => {});
    expect(one.subject.crashes).toBe(1);
    expect(await one.subject.call("add")).toBe(2);
    expect(one.log.find(({ entry }) => entry["callbacks"])?.entry).toMatchObject({ callbacks: ['action "poison"'] });
  });
});
