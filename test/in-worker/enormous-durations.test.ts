import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { createHandler } from "../../src/entry/cloudflare.js";
import { db } from "../../src/entry/db.js";
import { actor, queue, setup } from "../../src/entry/index.js";
import { workflow } from "../../src/entry/workflow.js";
import { objectName } from "../../src/protocol/index.js";
import { serve } from "../support/worker.js";

// Timers of the platform end at 24.8 days and fire at once beyond, alarms at some time: each duration is clamped, or refused by name.

const HUGE = Number.MAX_VALUE;
/** In a workflow, what is no date is refused by name. */
const MILLENNIA = 1e14;
const DURATIONS = [
  "actionTimeout",
  "createVarsTimeout",
  "createConnStateTimeout",
  "onBeforeConnectTimeout",
  "onConnectTimeout",
  "onMigrateTimeout",
  "sleepGracePeriod",
  "sleepTimeout",
] as const;
const pause = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 20));
const slowly = async <T>(value: T): Promise<T> => {
  await pause();
  return value;
};

const patient = actor({
  state: { slept: 0 },
  options: Object.fromEntries(DURATIONS.map((name) => [name, HUGE])),
  db: db({ onMigrate: async (sql) => void (await sql.execute("create table if not exists t (n integer)")) }),
  queues: { jobs: queue<number, number>(), idle: queue<number>() },
  createVars: () => slowly({}),
  onMigrate: () => slowly(undefined),
  onBeforeConnect: () => slowly(undefined),
  createConnState: () => slowly({}),
  onConnect: () => slowly(undefined),
  onDisconnect: () => slowly(undefined),
  onRequest: () => slowly(new Response("served")),
  onSleep: (c) => slowly(void (c.state.slept += 1)),
  run: workflow(async (ctx) => {
    await ctx.step({ name: "slow", timeout: HUGE, retryBackoffMax: HUGE, run: () => slowly(1) });
    const message = await ctx.queue.next("job", { names: ["jobs"], timeout: MILLENNIA, completable: true });
    if (message) await message.complete(message.body + 1);
    await ctx.sleep("for ages", MILLENNIA);
  }),
  actions: {
    slow: () => slowly("done"),
    receive: (c) => c.queue.next({ names: ["idle"], timeout: HUGE }),
    put: (c) => c.queue.send("idle", 7),
    transact: (c) => c.db.transaction(async (tx) => slowly(await tx.execute("select 1 as one")), { timeout: HUGE }),
    later: (c) => c.schedule.after(HUGE, "slow"),
    every: (c, interval: number) => c.cron.every({ name: "tick", interval, action: "slow" }),
    nap: (c) => c.sleep(),
    slept: (c) => c.state.slept,
    status: (c) => c.workflow.status(),
  },
});
const registry = setup({ use: { patient } });
serve(registry);
const { ACTORS } = env as unknown as { ACTORS: DurableObjectNamespace };
const client = createHandler(registry, { logLevel: "silent" }).client(env);

it("an actor all of whose durations are enormous does what it is for, and nothing of it times out at once", async () => {
  const handle = client.patient.getOrCreate(["huge"]);
  expect(await handle.slow()).toBe("done");
  expect(await (await handle.fetch("/")).text()).toBe("served");
  await pause();
  expect(await handle.status()).toMatchObject({ status: "running" });
  expect(await handle.send("jobs", 1, { wait: true })).toEqual({ status: "completed", response: 2 });
  const received = handle.receive();
  await pause();
  await handle.put();
  expect(await received).toMatchObject({ body: 7 });
  expect(await handle.transact()).toEqual([{ one: 1 }]);
  await handle.later();
  await expect(handle.every(HUGE)).rejects.toMatchObject({ group: "schedule" });
  expect(await handle.status()).toMatchObject({ status: "running" });
  await runInDurableObject(
    ACTORS.get(ACTORS.idFromName(objectName("patient", ["huge"]))),
    async (_instance, { storage }) => {
      expect((await storage.getAlarm()) ?? Infinity, "an alarm within what the platform takes").toBeLessThan(
        Date.now() + 400 * 86_400_000,
      );
    },
  );
  await handle.nap();
  expect(await handle.slept()).toBe(1);
  expect(await handle.status()).toMatchObject({ status: "running" });
});
