// order.test.ts
import { env } from "cloudflare:workers";
import { abort, endSteps, evict, history, runDue, step } from "perdure/testing/workers";
import { afterEach, expect, test } from "vitest";
import { client } from "./worker.js";

afterEach(endSteps);

test("an order is paid for when it is approved, and arrives two days later", async () => {
  step("order", "charge").fails(new Error("502")).gives({ id: "ch_1" });
  const order = client(env).order.getOrCreate("o-1");
  await order.send("approvals", { by: "ada" });
  await expect.poll(() => step("order", "charge").calls()).toHaveLength(1);
  await runDue(order); // the retry
  expect(await order.status()).toBe("paid");

  await evict(order);
  await runDue(order); // the two days
  const { status, output, steps } = await history(order);
  expect([status, output]).toEqual(["completed", "delivered"]);
  expect(steps("charge")).toMatchObject([{ attempts: 2, result: { id: "ch_1" } }]);
});

test("an order outlives the death of its object, and expires after a week", async () => {
  const order = client(env).order.getOrCreate("o-2");
  expect(await order.status()).toBe("placed");
  await abort(order);
  await runDue(order);
  expect(await history(order)).toMatchObject({ status: "completed", output: "expired" });
});
