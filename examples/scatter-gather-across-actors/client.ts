import { createClient } from "perdure/client";
import { check, type Tour, type TourResult } from "../tour";
import type { registry } from "./index";

export async function run({ endpoint, key, say, until }: Tour): Promise<TourResult> {
  const gatherer = createClient<typeof registry>(endpoint).scatterGatherActor.getOrCreate([key]);

  await gatherer.send("scatter", { input: 7 });
  say("shards a, b and c, three actors, compute side by side");
  const { lastSum } = await until(
    () => gatherer.getState(),
    (state) => state.lastSum > 0,
  );
  await gatherer.stop();

  check(lastSum === 3 * 70, "each shard gives ten times its input");
  return { result: `70 + 70 + 70 = ${lastSum}` };
}
