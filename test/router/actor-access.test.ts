import { expect, test } from "vitest";
import { createActorAccess } from "../../src/router/index.js";
import { FakeObjects, succeed } from "./fake-objects.js";

test("the ways to call the actors of a namespace are made once for each namespace", async () => {
  const accessOf = createActorAccess(new Set(["counter"]));
  const [one, other] = [new FakeObjects(() => succeed(1)), new FakeObjects(() => succeed(2))];
  expect(accessOf(one)).toBe(accessOf(one));
  expect(accessOf(other)).not.toBe(accessOf(one));
  const target = { name: "counter", key: [], creation: { mode: "getOrCreate" } } as const;
  await accessOf(other).callActor({ target, operation: { kind: "resolve" } });
  expect([one.calls.length, other.calls.length]).toEqual([0, 1]);
});
