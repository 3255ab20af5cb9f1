import { createClient } from "perdure/client";
import { check, type Tour, type TourResult } from "../tour";
import type { registry } from "./index";

export async function run({ endpoint, key, say, until, crash }: Tour): Promise<TourResult> {
  const cards = createClient<typeof registry>(endpoint).timeoutActor.getOrCreate([key]);

  await cards.send("charge", { orderId: `flaky-${key}` });
  await until(
    () => cards.getState(),
    ({ attempts }) => attempts.length === 2,
  );
  say("attempt 1 failed, attempt 2 hangs at the provider");

  await crash();

  // A cut-off attempt is no failure: it begins again under its number and uses up no retry.
  await until(
    () => cards.getState(),
    ({ attempts }) => attempts.length > 2,
  );
  say("the server died in attempt 2: it begins again, and may take 2.5 s");
  const { lastChargeId, attempts } = await until(
    () => cards.getState(),
    (state) => state.lastChargeId !== null,
  );
  say(`attempt 2 timed out, attempt 3 went through: ${lastChargeId}`);

  const numbers = attempts.map((each) => each.at(-1)).join(", ");
  check(numbers.startsWith("1, 2") && numbers.endsWith("3"), `attempt 3 was the first to succeed, not ${numbers}`);
  return {
    result: "failed, timed out, charged in attempt 3",
    survived: "that attempt 1 had failed; attempt 2 began again",
  };
}
