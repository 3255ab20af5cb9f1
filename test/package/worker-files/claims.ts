// What holds for a Worker's files that are loaded in Node, whoever runs the tests.
import assert from "node:assert/strict";
import { DurableObject, env, withEnv } from "cloudflare:workers";
import { testEnv, testWorld } from "perdure/testing";
import migrations from "./migrations/migrations.js";
import { atLoad, registry } from "./registry.ts";
import worker, { ActorObject } from "./worker.ts";

export async function checkClaims(): Promise<void> {
  assert.deepEqual(atLoad, []);
  assert.equal(typeof worker.fetch, "function");
  assert.equal(ActorObject.prototype instanceof DurableObject, true);
  assert.deepEqual(migrations, {
    journal: { version: "7", dialect: "sqlite", entries: [{ idx: 0, when: 1, tag: "0000_first" }] },
    migrations: { m0000: "create table visits (page text);\n" },
  });

  testEnv({ GREETING: "outside" });
  const startAt = Date.UTC(2030, 0, 1);
  const one = await testWorld(registry, { env: { GREETING: "hello" }, startAt });
  const other = await testWorld(registry, { env: { GREETING: "hi" }, startAt });
  const greet = (world: typeof one) => world.client.greeter.getOrCreate(["k"]).greet();
  assert.deepEqual(await Promise.all([greet(one), greet(other)]), [
    ["hello", false, ["GREETING"], startAt],
    ["hi", false, ["GREETING"], startAt],
  ]);
  assert.deepEqual({ ...env }, { GREETING: "outside" });
  assert.deepEqual(
    withEnv({ A: 1 }, () => Object.entries(env)),
    [["A", 1]],
  );
  await one.end();
  await other.end();

  const sockets = "cloudflare:sockets";
  await assert.rejects(import(sockets), /"cloudflare:sockets" exists in the Workers runtime alone/);
}
