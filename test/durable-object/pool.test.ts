import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";

// What the other tests of this project rely on from the test pool itself; true for any object class.

const { ACTORS } = env as unknown as { ACTORS: DurableObjectNamespace };
const HOUR_MS = 3_600_000;

test("eviction keeps an object's storage and throws its memory away", async () => {
  const stub = ACTORS.get(ACTORS.idFromName("pool-eviction"));
  const instances = new Set<object>();
  await runInDurableObject(stub, (instance, state) => {
    instances.add(instance);
    state.storage.kv.put("pool", 1);
  });
  await runInDurableObject(stub, (instance) => expect(instances.has(instance)).toBe(true));
  await evictDurableObject(stub);
  await runInDurableObject(stub, (instance, state) => {
    expect(instances.has(instance)).toBe(false);
    expect(state.storage.kv.get("pool")).toBe(1);
  });
});

test("an alarm that is an hour away runs when the test says so", async () => {
  const stub = ACTORS.get(ACTORS.idFromName("pool-alarm"));
  expect(await runDurableObjectAlarm(stub)).toBe(false);
  await runInDurableObject(stub, (_instance, state) => state.storage.setAlarm(Date.now() + HOUR_MS));
  expect(await runDurableObjectAlarm(stub)).toBe(true);
  expect(await runDurableObjectAlarm(stub)).toBe(false);
});
