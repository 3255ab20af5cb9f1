import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { createClient } from "../../src/entry/client.js";
import { createHandler } from "../../src/entry/cloudflare.js";
import { actor, event, queue, setup } from "../../src/entry/index.js";
import { workflow } from "../../src/entry/workflow.js";
import { serve } from "../support/worker.js";
import { workerFetch, WorkerSocket } from "./worker-socket.js";

// `evictAtPark` in the object itself: its sockets stay, while the actor starts anew for each event.

const starts = new Map<string, number>();
const started = (key: string): number => starts.get(key) ?? 0;

const order = actor({
  state: {},
  events: { charged: event<number>() },
  queues: { approvals: queue<string, number>() },
  createConnState: () => ({ looks: 0 }),
  onWake: (c) => void starts.set(c.key.join(), started(c.key.join()) + 1),
  run: workflow(async (ctx) => {
    let total = 0;
    await ctx.step("add", () => {
      total += 33;
    });
    const approval = await ctx.queue.next("approval", { names: ["approvals"], completable: true });
    await approval.complete(total);
    await ctx.step("tell", (step) => step.broadcast("charged", total));
    await ctx.queue.next("never", { names: ["approvals"] });
  }),
  actions: { look: (c) => (c.conn.state.looks += 1) },
});
const registry = setup({ use: { order } });

it("starts the actor from its storage at each event; sockets stay open, with what is remembered of them", async () => {
  serve(registry, { evictAtPark: true });
  const client = createClient<typeof registry>({
    endpoint: "http://worker.test",
    fetch: workerFetch,
    webSocket: WorkerSocket,
  });
  const handle = client.order.getOrCreate(["socket"]);
  const connection = handle.connect();
  const charged: number[] = [];
  const closed: unknown[] = [];
  connection.on("charged", (total) => charged.push(total));
  connection.onClose(() => closed.push("closed"));
  expect(await connection.look()).toBe(1);
  await vi.waitFor(async () => {
    await handle.resolve();
    expect(started("socket")).toBeGreaterThan(1);
  });
  expect(await connection.look()).toBe(2);
  expect(await handle.send("approvals", "yes", { wait: true })).toEqual({ status: "completed", response: 0 });
  await vi.waitFor(() => expect(charged).toEqual([0]));
  expect(closed).toEqual([]);
  await connection.dispose();
});

it("is off unless asked for, and said once when it is on", async () => {
  serve(registry);
  const client = createHandler(registry, { logLevel: "silent" }).client(env);
  const handle = client.order.getOrCreate(["kept"]);
  await handle.resolve();
  for (let turns = 0; turns < 10; turns += 1) await scheduler.wait(0);
  await handle.resolve();
  expect(started("kept")).toBe(1);
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  createHandler(registry, { evictAtPark: true });
  const lines = [...warn.mock.calls, ...log.mock.calls].map((call) => JSON.stringify(call));
  vi.restoreAllMocks();
  expect(lines.filter((line) => line.includes("evictAtPark is on"))).toHaveLength(1);
});
