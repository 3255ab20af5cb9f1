import { createClient } from "perdure/client";
import { check, type Tour, type TourResult } from "../tour";
import type { registry } from "./index";

export async function run({ endpoint, key, say, until, crash }: Tour): Promise<TourResult> {
  const reminder = createClient<typeof registry>(endpoint).reminderActor.getOrCreate([key]);

  const at = Date.now() + 10_000;
  await reminder.send("reminders", { text: "send weekly report", at });
  say("the workflow sleeps for 10 s; nothing of it runs meanwhile");

  await crash();
  const leftMs = at - Date.now();
  say(
    leftMs > 0
      ? `the time to wake is stored: ${leftMs} ms are left`
      : `the time to wake was stored, and passed ${-leftMs} ms ago`,
  );

  const { fired } = await until(
    () => reminder.getState(),
    (state) => state.fired.length > 0,
  );
  const lateMs = Date.now() - Math.max(at, at - leftMs);
  say(`fired "${fired[0]}" within ${lateMs} ms`);

  check(Date.now() >= at && fired.length === 1, "it fires once, and not before its time");
  return {
    result: `fired once, ${leftMs > 0 ? "on time" : "as soon as the server was back"}`,
    survived: "the time to wake",
  };
}
