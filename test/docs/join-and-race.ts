import { expect } from "vitest";
import { Stage, type Claims, type Service } from "./stage.js";

const DAY_MS = 24 * 3_600_000;

/** The live service answers after so long, ms. */
const slowBy =
  (delayMs: number): Service =>
  async ({ path }, clock) => {
    if (path !== "weather/live") return { degrees: 12 };
    await clock.delay(delayMs);
    return { degrees: 17 };
  };

export const joinAndRace: Readonly<Record<string, Claims>> = {
  "total.ts": {
    "counts 33 while the object lives, and 0 after an eviction; what the steps gave is 33 both times": async (
      example,
    ) => {
      for (const [isEvicted, wrong] of [
        [false, 33],
        [true, 0],
      ] as const) {
        const stage = new Stage(example, {});
        const report = stage.actor("report");
        await report.call("getState");
        await stage.world.settle();
        if (isEvicted) report.crash();
        await stage.world.pass(DAY_MS);
        expect(await report.call("getState")).toEqual({ wrong, right: 33 });
      }
    },
  },
  "dashboard.ts": {
    "asks all at the same time, and keeps what came when one fails": async (example) => {
      const stage = new Stage(example, {
        service: async ({ path }, clock) => {
          await clock.delay(1_000);
          return path === "shops/lagos" ? new Response(null, { status: 503 }) : { count: path.length };
        },
      });
      const dashboard = stage.actor("dashboard");
      await dashboard.call("getState");
      expect(stage.requests).toEqual(["GET users", "GET orders"]);
      await stage.world.pass(1_000);
      expect(stage.requests.slice(2)).toEqual(["GET shops/berlin", "GET shops/lagos", "GET shops/lima"]);
      await stage.world.pass(10_000);
      expect(await dashboard.call("getState")).toEqual({
        users: 5,
        orders: 6,
        byShop: { berlin: 12, lima: 10 },
        missing: ["lagos"],
      });
    },
    "goes on with the branches that are not done after a crash": async (example) => {
      const stage = new Stage(example, {
        service: async ({ path }, clock) => {
          if (path === "orders") await clock.delay(5_000);
          return { count: 1 };
        },
      });
      const dashboard = stage.actor("dashboard");
      await dashboard.call("getState");
      await stage.world.pass(1_000);
      dashboard.crash();
      await stage.world.pass(60_000);
      expect(stage.requests.filter((each) => !each.includes("shops"))).toEqual([
        "GET users",
        "GET orders",
        "GET orders",
      ]);
      expect(await dashboard.call("getState")).toMatchObject({ users: 1, orders: 1, missing: [] });
    },
  },
  "fallback.ts": {
    "is decided at 200 ms, while the step still runs, and aborts it": async (example) => {
      const stage = new Stage(example, { service: slowBy(500) });
      const weather = stage.actor("weather");
      await weather.call("getState");
      await stage.world.pass(199);
      expect(await weather.call("getState")).toEqual({ source: "", degrees: 0 });
      await stage.world.pass(1);
      expect(await weather.call("getState")).toEqual({ source: "late", degrees: 12 });
      expect(stage.calls[0]?.signal.aborted).toBe(true);
    },
    "drops the late result, and decides once": async (example) => {
      const stage = new Stage(example, { service: slowBy(500) });
      const weather = stage.actor("weather");
      await weather.call("getState");
      await stage.world.pass(1_000);
      weather.crash();
      await stage.world.pass(1_000);
      expect(await weather.call("getState")).toEqual({ source: "late", degrees: 12 });
      expect(stage.requests).toEqual(["GET weather/live", "GET weather/archive"]);
    },
    "is won by the service when that is faster": async (example) => {
      const stage = new Stage(example, { service: slowBy(150) });
      const weather = stage.actor("weather");
      await weather.call("getState");
      await stage.world.pass(1_000);
      expect(await weather.call("getState")).toEqual({ source: "live", degrees: 17 });
    },
  },
  "approval.ts": {
    "is decided by a message; a later one stays in the queue": async (example) => {
      const stage = new Stage(example);
      const approval = stage.actor("approval");
      await approval.call("getState");
      await stage.world.pass(2 * DAY_MS);
      await approval.send("decisions", { by: "ada", yes: true });
      await approval.send("decisions", { by: "bob", yes: false });
      expect(await approval.call("getState")).toEqual({ decision: "yes, says ada" });
      expect([approval.queued, approval.actor.store.alarmAt]).toEqual([1, null]);
    },
    "expires after three days, through a crash": async (example) => {
      const stage = new Stage(example);
      const approval = stage.actor("approval");
      await approval.call("getState");
      approval.crash();
      await stage.world.pass(3 * DAY_MS);
      expect(await approval.call("getState")).toEqual({ decision: "nobody decided" });
    },
  },
};
