import { expect } from "vitest";
import { codeOf, Stage, type Claims } from "./stage.js";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

export const timers: Readonly<Record<string, Claims>> = {
  "dunning.ts": {
    "reminds after 14 and 21 days and hands over after 28, through crashes": async (example) => {
      const stage = new Stage(example);
      const dunning = stage.actor("dunning");
      await dunning.call("getState");
      const sent: string[] = [];
      for (let day = 0; day < 28; day += 1) {
        dunning.crash();
        await stage.world.pass(DAY_MS);
        const state = (await dunning.call("getState")) as { sent: string[] };
        if (state.sent.length > sent.length) sent.push(`day ${day + 1}: ${state.sent.at(-1)}`);
      }
      expect(sent).toEqual(["day 14: reminder", "day 21: last reminder", "day 28: to the collector"]);
      expect(stage.calls).toHaveLength(3);
    },
    "shows the stored time, which a deploy does not move": async (example) => {
      const stage = new Stage(example);
      const dunning = stage.actor("dunning");
      const started = stage.clock.now();
      await dunning.call("getState");
      await stage.world.pass(DAY_MS);
      const deployed = stage.deploy(dunning, example);
      expect(await deployed.call("getStatus")).toMatchObject({ status: "running", wakeAt: started + 14 * DAY_MS });
    },
    "costs nothing while it waits": async (example) => {
      const stage = new Stage(example);
      const dunning = stage.actor("dunning");
      await dunning.call("getState");
      const rows = dunning.rowsWritten;
      await stage.world.pass(13 * DAY_MS);
      expect([dunning.rowsWritten - rows, dunning.actor.timersHeld]).toEqual([0, 0]);
    },
    "ends where it stands when it is cancelled": async (example) => {
      const stage = new Stage(example);
      const dunning = stage.actor("dunning");
      await dunning.call("getState");
      await stage.world.pass(15 * DAY_MS);
      await dunning.call("cancel");
      await stage.world.pass(30 * DAY_MS);
      expect([await dunning.call("getState"), await dunning.call("getStatus")]).toMatchObject([
        { sent: ["reminder"] },
        { status: "cancelled" },
      ]);
    },
  },
  "subscription.ts": {
    "charges on the same day of each month, without drift": async (example) => {
      const stage = new Stage(example);
      stage.atTime(Date.UTC(2026, 0, 31, 12));
      const subscription = stage.actor("subscription");
      subscription.actor.alarmDelayMs = 40_000;
      await subscription.call("getState");
      await stage.world.pass(121 * DAY_MS);
      expect(await subscription.call("getState")).toEqual({
        charged: ["2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"],
      });
    },
    "catches up after a pause": async (example) => {
      const stage = new Stage(example);
      stage.atTime(Date.UTC(2026, 0, 15));
      const subscription = stage.actor("subscription");
      await subscription.call("getState");
      stage.atTime(Date.UTC(2026, 3, 20));
      await stage.world.settle();
      expect(await subscription.call("getState")).toEqual({ charged: ["2026-02-15", "2026-03-15", "2026-04-15"] });
    },
  },
  "session.ts": {
    "ends 30 minutes after the last touch, through a crash": async (example) => {
      const stage = new Stage(example);
      const session = stage.actor("session");
      await session.call("touch");
      await stage.world.pass(29 * MINUTE_MS);
      for (let n = 0; n < 5; n += 1) await session.call("touch");
      session.crash();
      await stage.world.pass(29 * MINUTE_MS);
      expect(await session.call("isOpen")).toBe(true);
      await stage.world.pass(MINUTE_MS);
      expect(await session.call("isOpen")).toBe(false);
    },
    "has no action that is not declared": async (example) => {
      expect(await codeOf(new Stage(example).actor("session").call("extend"))).toBe("actor/action_not_found");
    },
  },
};
