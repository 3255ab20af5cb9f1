import { describe, expect, it } from "vitest";
import { actor, type AnyActorDefinition } from "../../../src/actor/index.js";
import { single, type Single } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- contexts of several hooks
type Any = any;

/** An actor whose `onDisconnect` kills its object for one connection. Counts the calls of the hook. */
function poisoned(kill: (one: Single) => unknown): Single & { readonly told: Map<string, number> } {
  const told = new Map<string, number>();
  const one: Single = single(
    actor({
      state: { n: 0 },
      onDisconnect: async (_c: Any, conn: Any) => {
        if (conn.params === undefined) return;
        told.set(conn.params, (told.get(conn.params) ?? 0) + 1);
        if (conn.params === "poison") await kill(one);
      },
      actions: { add: (c: Any) => (c.state.n += 1), end: (c: Any) => c.destroy() },
    } as never) as AnyActorDefinition,
  );
  return { ...one, told };
}

const ways: [how: string, kill: (one: Single) => unknown][] = [
  ["at once", ({ subject }) => subject.crash()],
  ["after a while", ({ subject, world }) => world.clock.delay(5).then(() => subject.crash())],
];

describe.each(ways)("an onDisconnect that kills its object %s", (_how, kill) => {
  it("is given up for that connection; the others are told, and the actor serves and rests", async () => {
    const one = poisoned(kill);
    for (const params of ["poison", "a", "b"]) await one.subject.connect({ params });
    one.subject.crash();
    one.subject.call("add").catch(() => {});
    for (let minutes = 0; minutes < 30; minutes += 1) await one.world.pass(60_000);
    expect(one.told.get("poison")).toBe(6);
    expect([one.told.get("a"), one.told.get("b")].every((times) => times! >= 1 && times! <= 3)).toBe(true);
    expect(one.log.filter(({ entry }) => String(entry["msg"]).includes("given up"))).toHaveLength(1);
    expect(await one.subject.call("add")).toBe(2);
    await one.world.settle();
    expect([one.subject.store.keys, one.subject.store.alarmAt, one.subject.timersHeld]).toEqual([["a", "s"], null, 0]);
  });

  it("keeps no actor from being destroyed", async () => {
    const one = poisoned(kill);
    await one.subject.connect({ params: "poison" });
    // A kill in the turn that marks the actor as destroyed undoes the mark: the caller got no answer, and asks again.
    for (let asked = 0; asked < 10 && one.subject.store.keys.length > 0; asked += 1) {
      await one.subject.call("end").catch(() => {});
      await one.world.pass(3_600_000);
    }
    expect([one.subject.store.keys, one.subject.store.alarmAt]).toEqual([[], null]);
  });
});

it("an onDisconnect that was cut off by something else is told all the same", async () => {
  const one: Single = single(
    actor({
      state: { told: [] as unknown[] },
      onDisconnect: async (c: Any, conn: Any) => {
        if (conn.params === undefined) return;
        await one.world.clock.delay(1_000);
        c.state.told.push(conn.params);
      },
      actions: { told: (c: Any) => c.state.told },
    } as never) as AnyActorDefinition,
  );
  for (const params of ["a", "b"]) await one.subject.connect({ params });
  for (let crashes = 0; crashes < 5; crashes += 1) {
    one.subject.crash();
    expect(await one.subject.call("told")).toEqual([]);
    await one.world.pass(500);
  }
  await one.world.passUntilQuiet(3_600_000);
  expect(((await one.subject.call("told")) as unknown[]).toSorted()).toEqual(["a", "b"]);
  expect(one.subject.store.keys).toEqual(["a", "s"]);
});
