import { describe, expect, it } from "vitest";
import { actor, recordHistory, setup, workflow } from "../../../src/actor/index.js";
import { testWorld } from "../../support/test-world.js";

const shop = setup({
  use: {
    order: actor({
      state: {},
      run: workflow(async (ctx) => {
        const at = await ctx.step("look", () => new Date(0));
        const message = await ctx.queue.next("paid");
        return { at, by: message.body };
      }),
      actions: { get: () => 0 },
      queues: { paid: {} as never },
    }),
    plain: actor({ state: { n: 1 }, actions: { get: () => 0 } }),
  },
});

describe("a recorded history", () => {
  it("is JSON of actor, run and entries, values tagged, without tokens of senders", async () => {
    const world = testWorld(shop);
    const order = world.actor("order", ["o-1"]);
    await order.call("get");
    await world.settle();
    const { encodeValue } = await import("../../../src/protocol/index.js");
    const body = encodeValue({ by: "ada", n: 10n });
    await order.send(
      { mode: "get" },
      { kind: "send", queue: "paid", body, wait: true, token: "f".repeat(32), attachMs: 0 },
    );
    await world.settle();
    const history = recordHistory(order.store.dump(), world.clock.now());
    expect(JSON.parse(JSON.stringify(history))).toEqual(history);
    expect(JSON.stringify(history)).not.toContain("ffff");
    const [look, paid] = history.entries;
    expect(history).toMatchObject({
      format: "perdure-history/1",
      actor: "order",
      key: ["o-1"],
      recordedAt: world.clock.now(),
      run: { status: "completed", output: { at: ["$Date", 0], by: { by: "ada", n: ["$BigInt", "10"] } } },
    });
    expect(look).toMatchObject({ at: ["look"], kind: "step", status: "completed", attempts: 1, value: ["$Date", 0] });
    expect(paid).toMatchObject({ at: ["paid"], kind: "message", messages: [{ name: "paid", body: { by: "ada" } }] });
  });

  it("does not exist without an actor or without a workflow", async () => {
    const world = testWorld(shop);
    expect(() => recordHistory([], 0)).toThrow("There is no actor here");
    await world.actor("plain").call("get");
    expect(() => recordHistory(world.actor("plain").store.dump(), 0)).toThrow('The actor "plain" has no workflow');
  });
});
