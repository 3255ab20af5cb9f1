import { createClient } from "perdure/client";
import { check, type Tour, type TourResult } from "../tour";
import type { registry } from "./index";

export async function run({ endpoint, key, say, until, crash }: Tour): Promise<TourResult> {
  const worker = createClient<typeof registry>(endpoint).setupRunTeardownActor.getOrCreate([key]);

  await worker.send("work", { amount: 5 });
  await worker.send("work", { amount: 3 });
  const before = await until(
    () => worker.getState(),
    ({ processed }) => processed === 2,
  );
  say(`${before.workerSessionId} is open, 2 messages are done; the loop waits for the next`);

  await crash();

  await worker.send("control", { type: "stop", reason: "maintenance" });
  const after = await until(
    () => worker.getState(),
    ({ phase }) => phase === "stopped",
  );
  say(`stopped for ${after.stopReason}, session closed`);

  check(after.workerSessionId === before.workerSessionId && after.total === 8, "one session did all the work, once");
  return {
    result: `total ${after.total}, stopped for ${after.stopReason}`,
    survived: "the open session, 2 finished iterations",
  };
}
