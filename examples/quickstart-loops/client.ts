import { createClient } from "perdure/client";
import { check, type Tour, type TourResult } from "../tour";
import type { registry } from "./index";

export async function run({ endpoint, key, say, until }: Tour): Promise<TourResult> {
  const counter = createClient<typeof registry>(endpoint).workflowCounter.getOrCreate([key]);

  // Each send resolves once the message is stored; the loop takes them in this order.
  for (const delta of [1, 2, 3]) await counter.send("counter", { delta });
  say("sent +1, +2, +3; the loop takes one message an iteration");
  const { value, processed } = await until(
    () => counter.getState(),
    (state) => state.processed === 3,
  );

  check(value === 6, "1 + 2 + 3 is 6");
  return { result: `${processed} messages, value ${value}` };
}
