import { createClient } from "perdure/client";
import { check, type Tour, type TourResult } from "../tour";
import type { registry } from "./index";

export async function run({ endpoint, key, say, until }: Tour): Promise<TourResult> {
  const fan = createClient<typeof registry>(endpoint).fanInOutActor.getOrCreate([key]);

  await fan.send("refresh", {});
  say("one request fans out to three services at the same time");
  const { total } = await until(
    () => fan.getState(),
    (state) => state.total > 0,
  );
  await fan.stop();

  check(total === 120 + 45 + 17, "the counts are added up");
  return { result: `120 + 45 + 17 = ${total}` };
}
