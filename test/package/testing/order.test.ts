// order.test.ts
import { testWorld } from "perdure/testing";
import { expect, test } from "vitest";
import { registry } from "./order.js";

test("an order is paid for when it is approved, and arrives two days later", async () => {
  await using world = await testWorld(registry);
  world.step("order", "charge").fails(new Error("502")).fails(new Error("502")).gives({ id: "ch_1" });
  world.step("order", "insure").gives({ id: "p_1" });
  const mails = world.fetch.on("https://api.example.com/mails", { id: "m_1" });

  const order = world.client.order.getOrCreate("o-1");
  await order.send("approvals", { by: "ada" });
  await world.advance("1 minute");
  expect(await order.status()).toBe("paid");
  expect(world.history(order).steps("charge")).toMatchObject([{ attempts: 3, result: { id: "ch_1" } }]);
  await world.advance("2 days");
  expect(mails.calls()).toHaveLength(1);
  expect(world.history(order)).toMatchObject({ status: "completed", output: "delivered" });
  await world.end();
});
