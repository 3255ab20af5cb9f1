// Another project of the user's, which sees the first one only through its declarations: nothing was lost on the way.
import { createClient } from "perdure/client";
import type { ActorHandle } from "perdure";
import type { WorkflowStepContextOf } from "perdure/workflow";
import { byId, handle } from "../project/client.js";
import type { Job, ledger, registry } from "../project/actors.js";

const client = createClient<typeof registry>();
export const other: ActorHandle<typeof ledger> = client.ledger.get("main");

export async function use(step: WorkflowStepContextOf<typeof ledger>): Promise<"EUR" | "USD"> {
  const jobs: Job[] = (await handle.getState()).lines;
  const sum: number | undefined = await other.totals.sum();
  const booked: boolean | undefined = (await byId.send("jobs", { id: "1", amount: sum ?? 0 }, { wait: true })).response
    ?.booked;
  const last: "ok" | "failed" | null = step.state.last;
  // @ts-expect-error the queue's body
  await byId.send("jobs", { id: 1 });
  // @ts-expect-error the action's argument
  await other.totals.sum("GBP");
  return booked && last === "ok" && jobs.length > 0 ? step.state.currency : "EUR";
}
