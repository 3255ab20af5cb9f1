import { createClient } from "perdure/client";
import { check, type Tour, type TourResult } from "../tour";
import type { registry } from "./index";

export async function run({ endpoint, key, say, until }: Tour): Promise<TourResult> {
  const coordinator = createClient<typeof registry>(endpoint).coordinatorActor.getOrCreate([key]);

  await coordinator.send("task", { taskId: "task-1", workerId: "worker-a", value: 21 });
  say("the coordinator's step calls the action runTask of worker-a");
  const { lastTaskId, lastResult } = await until(
    () => coordinator.getState(),
    (state) => state.lastTaskId !== null,
  );
  await coordinator.stop();

  check(lastResult === 42, "the worker doubles its value");
  return { result: `${lastTaskId}: worker-a answered ${lastResult}` };
}
