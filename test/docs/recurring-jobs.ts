import { expect } from "vitest";
import { Stage, type Claims } from "./stage.js";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

export const recurringJobs: Readonly<Record<string, Claims>> = {
  "digest.ts": {
    "is sent at seven in New York on working days, in winter and in summer, through crashes": async (example) => {
      const stage = new Stage(example);
      stage.atTime(Date.parse("2026-03-06T10:00:00Z"));
      const digest = stage.actor("digest");
      await digest.call("add", "one");
      const next: string[] = [];
      for (let day = 0; day < 5; day += 1) {
        next.push(new Date((await digest.call("next")) as number).toISOString());
        digest.crash();
        await stage.world.pass(DAY_MS);
      }
      // The clocks change on Sunday, the 8th.
      expect([...new Set(next)]).toEqual([
        "2026-03-06T12:00:00.000Z",
        "2026-03-09T11:00:00.000Z",
        "2026-03-10T11:00:00.000Z",
      ]);
      expect((await digest.call("getState")).sent).toEqual([
        { day: "2026-03-06", items: 1 },
        { day: "2026-03-09", items: 0 },
        { day: "2026-03-10", items: 0 },
      ]);
    },
    "polls every ten minutes without drift, and tells what went wrong": async (example) => {
      let polls = 0;
      const stage = new Stage(example, {
        service: () => ((polls += 1) % 3 === 0 ? new Response(null, { status: 503 }) : {}),
      });
      const digest = stage.actor("digest");
      digest.actor.alarmDelayMs = 7_000;
      await digest.call("getState");
      await stage.world.pass(60 * MINUTE_MS + 7_000);
      expect([polls, (await digest.call("getState")).polls]).toEqual([6, 4]);
      expect(await digest.call("problems")).toEqual(["feed answered 503", "feed answered 503"]);
    },
    "is registered anew at each start for nothing": async (example) => {
      const stage = new Stage(example);
      const digest = stage.actor("digest");
      const before = await digest.call("next");
      const { rowsWritten } = digest;
      for (let n = 0; n < 3; n += 1) {
        digest.crash();
        expect(await digest.call("next")).toBe(before);
      }
      expect([digest.rowsWritten - rowsWritten, digest.actor.timersHeld]).toEqual([0, 0]);
    },
    "makes up for missed times with one run": async (example) => {
      const stage = new Stage(example);
      stage.atTime(Date.parse("2026-03-06T10:00:00Z"));
      const digest = stage.actor("digest");
      await digest.call("add", "one");
      digest.crash();
      stage.atTime(Date.parse("2026-03-20T10:00:00Z"));
      await stage.world.settle();
      expect((await digest.call("getState")).sent).toEqual([{ day: "2026-03-06", items: 1 }]);
      expect(stage.calls).toHaveLength(1);
    },
    "does not poll while it is paused, until it starts again": async (example) => {
      const stage = new Stage(example);
      const digest = stage.actor("digest");
      await digest.call("getState");
      expect(await digest.call("pause")).toBe(true);
      await stage.world.pass(30 * MINUTE_MS);
      expect(stage.calls).toHaveLength(0);
      digest.crash();
      await digest.call("getState");
      await stage.world.pass(10 * MINUTE_MS);
      expect(stage.calls).toHaveLength(1);
    },
  },
};
