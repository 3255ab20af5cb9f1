import { createClient } from "perdure/client";
import { check, type Tour, type TourResult } from "../tour";
import type { registry } from "./index";

export async function run({ endpoint, key, say, until }: Tour): Promise<TourResult> {
  const poller = createClient<typeof registry>(endpoint).pollBackoffActor.getOrCreate([key]);

  const failing = await until(
    () => poller.getState(),
    ({ attempts }) => attempts >= 2,
  );
  say(`attempt ${failing.attempts} found the target ${failing.status}; the next one comes in ${failing.backoffMs} ms`);
  const healthy = await until(
    () => poller.getState(),
    ({ status }) => status === "healthy",
  );
  say(`attempt ${healthy.attempts} found it healthy; the backoff is ${healthy.backoffMs} ms again`);
  await poller.stop();

  check(healthy.attempts === 3 && failing.backoffMs > 100, "the third attempt succeeds, after growing delays");
  return { result: `healthy in attempt ${healthy.attempts}, after ${failing.backoffMs} ms of backoff` };
}
