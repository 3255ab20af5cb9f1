import { createClient } from "perdure/client";
import { check, type Tour, type TourResult } from "../tour";
import type { registry } from "./index";

export async function run({ endpoint, key, say, until, crash }: Tour): Promise<TourResult> {
  const client = createClient<typeof registry>(endpoint);
  const orchestrator = client.orchestratorActor.getOrCreate([key]);
  const child = client.childWorkerActor.getOrCreate([key, "child-a"]);

  await orchestrator.send("batch", { payload: 2 });
  await until(
    () => orchestrator.getState(),
    ({ lastTotal }) => lastTotal === 18,
  );
  say("three children were started, and have done batch 1");

  await crash();

  await orchestrator.send("batch", { payload: 5 });
  const { lastTotal } = await until(
    () => orchestrator.getState(),
    (state) => state.lastTotal !== 18,
  );
  const { calls } = await child.getState();
  say(`batch 2 gives ${lastTotal}; child-a was called ${calls} times: start, batch 1, batch 2`);
  await orchestrator.stop();

  check(lastTotal === 45 && calls === 3, "the children are started once, and keep their counts");
  return { result: `18, then ${lastTotal}`, survived: "the children and their counts; they were not started again" };
}
