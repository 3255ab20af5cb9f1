import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";

const ACTORS = (env as unknown as { ACTORS: DurableObjectNamespace }).ACTORS;

test("an object keeps its storage and loses its memory when it is evicted", async () => {
  const stub = ACTORS.get(ACTORS.idFromName("pool"));
  expect(await (await stub.fetch("http://object")).json()).toEqual({ stored: 1, inMemory: 1 });
  expect(await (await stub.fetch("http://object")).json()).toEqual({ stored: 2, inMemory: 2 });
  await evictDurableObject(stub);
  expect(await (await stub.fetch("http://object")).json()).toEqual({ stored: 3, inMemory: 1 });
});

test("an alarm that is hours away runs when the test asks for it", async () => {
  const stub = ACTORS.get(ACTORS.idFromName("alarm"));
  expect(await runDurableObjectAlarm(stub)).toBe(false);
  await stub.fetch("http://object");
  expect(await runDurableObjectAlarm(stub)).toBe(true);
  expect(await runDurableObjectAlarm(stub)).toBe(false);
  expect(await runInDurableObject(stub, (_instance, state) => state.storage.kv.get("count"))).toBe(100);
});

test("storage is a file on disk", async () => {
  const stub = ACTORS.get(ACTORS.idFromName("disk"));
  const pages = await runInDurableObject(stub, (_instance, state) => state.storage.sql.databaseSize);
  expect(pages).toBeGreaterThan(0);
});
