import { createClient } from "perdure/client";
import { check, type Tour, type TourResult } from "../tour";
import type { registry } from "./index";

export async function run({ endpoint, key, say, until }: Tour): Promise<TourResult> {
  const service = createClient<typeof registry>(endpoint).timeoutFallbackActor.getOrCreate([key]);

  await service.send("request", {});
  say("the primary takes 500 ms and has 200");
  const { lastSource, lastValue } = await until(
    () => service.getState(),
    (state) => state.lastSource !== "none",
  );
  await service.stop();

  check(lastSource === "fallback", "the timer wins");
  return { result: `winner: timeout; the ${lastValue} answered` };
}
