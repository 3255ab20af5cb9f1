import { expect, it } from "vitest";
import { subject, type Ctx } from "../../workflow/subject.js";

const HOUR_MS = 3_600_000;

// A call far ahead of the alarm reads no history (ALARM-2), so damage may be found as late as by a commit.
it("a commit that finds the history damaged stores nothing, says so, and ends the activation (COMMIT-9)", async () => {
  const s = await subject(
    async (ctx: Ctx) => {
      await ctx.step("one", () => 1);
      await ctx.queue.next("wait", { names: ["q"] });
    },
    {
      actions: {
        note: (c, what: string) => void c.state.log.push(what),
        noteAndSchedule: async (c, what: string) => {
          c.state.log.push(what);
          await c.schedule.after(HOUR_MS, "note", "later");
        },
      },
    },
  );
  const rows = new Map(s.actor.store.dump());
  for (const key of rows.keys()) if (key.startsWith("e/")) rows.set(key, new Uint8Array([0xff, 1, 2]));
  const { alarmAt } = s.actor.store;
  s.actor.crash();
  s.actor.store.restore(rows, alarmAt);

  await s.call("note", "first");
  await expect(s.call("noteAndSchedule", "second")).rejects.toMatchObject({ group: "storage", code: "corrupt" });
  expect(await s.state()).toEqual({ log: ["first"] });
  await s.call("note", "third");
  await expect(s.send("q", 1)).rejects.toMatchObject({ group: "storage", code: "corrupt" });
  expect(await s.state()).toEqual({ log: ["first", "third"] });
  s.actor.crash();
  expect(await s.state()).toEqual({ log: ["first", "third"] });
  expect(s.queued).toBe(0);
  expect(s.actor.store.alarmAt).toBe(alarmAt);
});
