import { expect, it } from "vitest";
import { actor, type AnyActorDefinition } from "../../src/actor/index.js";
import type { MemorySocket } from "../../src/testing/index.js";
import { single, type Single } from "./subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- contexts of several hooks
type Any = any;

const TOO_LARGE = "x".repeat(9_000);

function room(parts: object = {}): Single {
  const one: Single = single(
    actor({
      state: { n: 0 },
      createConnState: () => ({ text: "small" }),
      actions: {
        add: (c: Any) => (c.state.n += 1),
        fill: async (c: Any, ms: number) => {
          c.conn.state.text = TOO_LARGE;
          await one.world.clock.delay(ms);
          return "filled";
        },
        fillOther: (c: Any) => void ([...c.conns.values()].find(({ params }) => params === "b").state.text = TOO_LARGE),
        text: (c: Any) => c.conn.state.text,
      },
      ...parts,
    } as never) as AnyActorDefinition,
  );
  return one;
}

const answers = ({ received }: MemorySocket): unknown[] => received.flatMap(({ tag, val }: Any) => (tag === "Init" ? [] : [tag === "Error" ? `${val.group}/${val.code}` : val.output]));

it("of a state that cannot be stored is told the one whose state it is, though others commit meanwhile", async () => {
  const one = room();
  const [a, b] = [await one.subject.connect({ params: "a" }), await one.subject.connect({ params: "b" })];
  const filling = a.call(1, "fill", 10);
  await one.world.settle();
  await b.call(1, "add");
  await one.world.pass(10);
  await filling;
  await a.call(2, "text");
  expect([answers(a), answers(b)]).toEqual([["value/too_large", "small"], [1]]);
});

it("of a state that cannot be stored is told whoever made it so, where nothing runs for its connection", async () => {
  const one = room();
  const [a, b] = [await one.subject.connect({ params: "a" }), await one.subject.connect({ params: "b" })];
  await a.call(1, "fillOther");
  await b.call(1, "text");
  expect([answers(a), answers(b)]).toEqual([["value/too_large"], ["small"]]);
});

it("of a state that is too large is told where, how large, and what may be; what was stored stays after a restart", async () => {
  const one = room({ onDisconnect: () => {} });
  const a = await one.subject.connect({ params: "a" });
  const filling = a.call(1, "fill", 1);
  await one.world.pass(1);
  await filling;
  const [, failure] = a.received as Any[];
  expect(failure.val.metadata).toEqual({ path: "$.text", sizeBytes: 9_009, limitBytes: 8_000 });
  await one.subject.evict();
  await a.call(2, "text");
  expect(answers(a)).toEqual(["value/too_large", "small"]);
});

it("of a connection that makes itself too large in onConnect fail no commit of others", async () => {
  const one: Single = room({
    onConnect: async (_c: Any, conn: Any) => {
      if (conn.params !== "large") return;
      conn.state.text = TOO_LARGE;
      await one.world.clock.delay(10);
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
