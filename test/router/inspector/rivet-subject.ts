import { DatabaseSync } from "node:sqlite";
import {
  actor,
  db,
  objectInspector,
  queue,
  recordHistory,
  setup,
  workflow,
  type AnyActorDefinition,
} from "../../../src/actor/index.js";
import { createRouter, inspectorRoutes, type InspectorOptions } from "../../../src/router/index.js";
import { Loop } from "../../../src/workflow/index.js";
import { testWorld } from "../../support/test-world.js";
import { WorldObjects } from "../world-objects.js";
import { fakeSockets } from "./fake-sockets.js";

const TOKEN = "a-token-of-the-tests";
const HOUR_MS = 3_600_000;

/** A Worker with an order of everything that RivetKit's inspector shows. */
export async function rivetSubject(options: InspectorOptions = { token: TOKEN }) {
  const fails = { onWake: false };
  const ran: string[] = [];
  let isClosed = false;
  const definition = actor({
    state: { total: 12n, lines: new Map([["tea", 2]]) },
    queues: { payments: queue<unknown>() },
    connState: { seat: 1 },
    inspector: { tabs: [{ id: "console", hidden: true }] },
    db: db({
      onMigrate: async (c) => {
        await c.execute(
          "CREATE TABLE IF NOT EXISTS shops (id INTEGER PRIMARY KEY); " +
            "CREATE TABLE IF NOT EXISTS lines (name TEXT NOT NULL, shop REFERENCES shops (id))",
        );
      },
    }),
    onBeforeConnect: (_c, params: unknown) => {
      if (isClosed && (params as { token?: string } | undefined)?.token !== "x")
        throw new Error("operators are no connections");
    },
    onWake: () => {
      if (fails.onWake) throw new Error("no wake");
    },
    run: workflow(async (ctx) => {
      await ctx.loop({
        name: "shopping",
        state: 0,
        run: async (inner, iteration) => {
          await inner.step("add", () => iteration);
          return iteration === 1 ? Loop.break(0) : Loop.continue(iteration + 1);
        },
      });
      await ctx.queue.next("payment", { names: ["payments"] });
      await ctx.step({
        name: "charge",
        maxRetries: 0,
        run: () => {
          throw new Error("502");
        },
      });
    }),
    actions: {
      add: (c, n: bigint) => {
        ran.push("add");
        return (c.state.total += n);
      },
      named: (_c, given: unknown) => given,
      args: (_c, ...given: unknown[]) => given.length,
      later: (c) => c.schedule.after(HOUR_MS, "args"),
      every: (c) => c.cron.every({ name: "hourly", interval: HOUR_MS, action: "args", args: [1] }),
      explode: () => {
        throw new Error("the password is hunter2");
      },
    },
  });
  const world = testWorld(setup({ use: { order: definition as unknown as AnyActorDefinition } }), {
    inspector: objectInspector(recordHistory),
    openDatabase: () => new DatabaseSync(":memory:"),
  });
  const order = world.actor("order", ["o-1"]);
  await order.call("args");
  isClosed = true;
  await world.settle();
  const sockets = fakeSockets();
  const router = createRouter({
    actorNames: ["order"],
    part: inspectorRoutes(options, () => 0),
    namespace: "default",
    sockets,
  });
  const send = async (path: string, method = "GET", body?: unknown, headers: Record<string, string> = {}) => {
    const query = `${path.includes("?") ? "&" : "?"}rvt-namespace=default&rvt-method=get&rvt-key=o-1`;
    const url = `https://shop.example/gateway/order/inspector/${path}${query}`;
    const init = {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    };
    const response = await router(new Request(url, init), new WorldObjects(world), {});
    if (!response) throw new Error(`The router left ${path} alone`);
    return response;
  };
  const get = async (path: string, method = "GET", body?: unknown): Promise<Record<string, unknown>> => {
    const response = await send(path, method, body);
    const answer = (await response.json()) as Record<string, unknown>;
    return response.status === 200 ? answer : { status: response.status, ...answer };
  };
  return { world, order, sockets, send, get, fails, ran, router };
}
