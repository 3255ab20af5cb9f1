// histories.test.ts
import { replayHistories } from "perdure/testing";
import { test } from "vitest";
import { registry } from "./order.js";

test("today's code fits the orders that are on their way", async () => {
  await replayHistories(registry, `${import.meta.dirname}/histories`);
});
