import { expect, test } from "vitest";
import { actor, queue, setup } from "../../../src/entry/index.js";
import { testWorld } from "../../../src/entry/testing.js";
import { workflow } from "../../../src/entry/workflow.js";

const counter = actor({
  state: { n: 0 },
  actions: {
    add: (c, by: number) => (c.state.n += by),
    echo: (_c, value: unknown) => value,
    fail: () => {
      throw new Error("secret");
    },
    forward: (c, by: number): Promise<number> =>
      c.client<typeof registry>().counter.getOrCreate(["other"]).add(by) as Promise<number>,
  },
  onRequest: (_c, request) => new Response(`${request.method} ${new URL(request.url).pathname}`),
});

const order = actor({
  state: { status: "open" },
  queues: { approvals: queue<{ by: string }, string>() },
  run: workflow(async (ctx) => {
    const message = await ctx.queue.next("wait", { names: ["approvals"], completable: true, timeout: 86_400_000 });
    await ctx.sleep("cool-off", 3_600_000);
    await ctx.step("pay", (step) => {
      step.state.status = "paid";
    });
    await message?.complete("thanks");
  }),
  actions: { status: (c) => c.state.status },
});

const registry = setup({ use: { counter, order } });

test.each(["json", "cbor", "bare"] as const)("the client of a world calls its actors, in %s", async (encoding) => {
  await using world = await testWorld(registry, { encoding });
  const main = world.client.counter.getOrCreate(["main"]);
  expect(await main.add(2)).toBe(2);
  expect(await main.add(3)).toBe(5);
  expect(await main.echo(new Map([["a", 1n]]))).toEqual(new Map([["a", 1n]]));
  await expect(main.fail()).rejects.toMatchObject({ group: "rivetkit", code: "internal_error" });
  expect(await (await main.fetch("/hello?x=1")).text()).toBe("GET /hello");
  expect(await main.forward(4)).toBe(4);
});

test("time passes in order", async () => {
  await using world = await testWorld(registry, { startAt: "2026-01-01T00:00:00Z" });
  const paid = world.client.order.getOrCreate(["o-1"]);
  expect(await paid.status()).toBe("open");
  await paid.send("approvals", { by: "ada" });
  await world.idle();
  expect(await paid.status()).toBe("open");
  await world.advance("1h");
  expect(await paid.status()).toBe("paid");
  expect(world.now()).toBe(Date.parse("2026-01-01T01:00:00Z"));
});
