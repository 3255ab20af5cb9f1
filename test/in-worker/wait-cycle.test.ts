import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createHandler } from "../../src/entry/cloudflare.js";
import { actor, queue, setup } from "../../src/entry/index.js";
import { workflow } from "../../src/entry/workflow.js";
import { serve } from "../support/worker.js";

// Actors that wait for one another's replies, over the platform's binding. All the cases: test/actor/activation/call-chain.test.ts.

type Ended = { readonly asked: unknown; readonly askedOn: unknown };
const told = (promise: Promise<{ status: string }>): Promise<unknown> =>
  promise.then(
    ({ status }) => status,
    ({
      group,
      code,
      metadata,
    }: {
      group: string;
      code: string;
      metadata?: { chain?: { name: string; waits: string }[] };
    }) => [`${group}/${code}`, ...(metadata?.chain ?? []).map(({ name, waits }) => `${name} ${waits}`)],
  );

type Asking = {
  getOrCreate(key: string[]): { send(queue: string, body: unknown, options: object): Promise<{ status: string }> };
};
const ask = (c: { client(): unknown; key: string[] }, name: string): Promise<unknown> =>
  told(
    (c.client() as Record<string, Asking>)[name]
      ?.getOrCreate(c.key)
      .send("asks", {}, { wait: true, timeout: 10_000 }) as never,
  );

const first = actor({
  state: { asked: undefined as unknown },
  queues: { asks: queue() },
  run: workflow(async (ctx) => {
    const asked = await ctx.step("ask", (step) => ask(step as never, "second"));
    await ctx.step("keep", async (step) => void (step.state.asked = asked));
  }),
  actions: {
    ended: async (c) => {
      while (c.state.asked === undefined) await scheduler.wait(1);
      return c.state.asked;
    },
  },
});
const second = actor({
  state: { askedOn: undefined as unknown },
  queues: { asks: queue() },
  run: workflow(async (ctx) => {
    const message = await ctx.queue.next("asks", { completable: true });
    const askedOn = await ctx.step("ask on", (step) => ask(step as never, "first"));
    await ctx.step("keep", async (step) => void (step.state.askedOn = askedOn));
    await message.complete();
  }),
  actions: { askedOn: (c) => c.state.askedOn },
});
const registry = setup({ use: { first, second } });
serve(registry);

describe("a waiting send to an actor whose workflow waits for its sender", () => {
  it("is queue/wait_cycle over the binding, long before anybody's timeout", async () => {
    const client = createHandler(registry, { logLevel: "silent" }).client(env as never);
    const asked = await client.first.getOrCreate(["circle"]).ended();
    const ended: Ended = { asked, askedOn: await client.second.getOrCreate(["circle"]).askedOn() };
    expect(ended).toEqual({ asked: "completed", askedOn: ["queue/wait_cycle", "first workflow", "second workflow"] });
  });
});
