import { createClient } from "perdure/client";
import { check, type Tour, type TourResult } from "../tour";
import type { registry } from "./index";

export async function run({ endpoint, key, say, until, crash }: Tour): Promise<TourResult> {
  const dashboard = createClient<typeof registry>(endpoint).dashboardActor.getOrCreate([key]);
  const finishedSteps = async () => {
    const history = await dashboard.getHistory();
    return history.flatMap(({ kind, status, location, id }) =>
      kind === "step" && status === "completed" ? [`${location.at(-1)} (entry ${id})`] : [],
    );
  };

  await dashboard.send("refresh", {});
  const before = await until(finishedSteps, (steps) => steps.length >= 2);
  say(`stored: ${before.join(", ")}; the join waits for fetch-revenue, which is slow`);

  await crash();

  const { summary } = await until(
    () => dashboard.getState(),
    (state) => state.summary !== null,
  );
  const after = await finishedSteps();
  say("only fetch-revenue was asked again; the join is complete");

  check(
    before.every((step) => after.includes(step)),
    "what was stored before the crash is in use after it",
  );
  check(summary?.users === 120 && summary.orders === 45 && summary.revenue === 9_800, "all three counts are there");
  return {
    result: `${summary.users} users, ${summary.orders} orders, ${summary.revenue} revenue`,
    survived: `${before.length} of 3 branches`,
  };
}
