import { afterEach, describe, expect, test, vi } from "vitest";
import { ManualClock, type World, type WorldActor } from "../../src/testing/index.js";
import { registry, type Report } from "../../examples/cron-report/index.js";
import { encodeValue } from "../../src/protocol/index.js";
import { testWorld } from "../support/test-world.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Seen {
  readonly sales: unknown[];
  readonly reports: Report[];
  readonly nextRunAt: number;
  readonly runs: { readonly result: string }[];
}

/** The shop on a Thursday at noon in Berlin, in summer. */
function open(fault?: (commit: number) => "crash-before" | "crash-after" | undefined): {
  world: World;
  shop: WorldActor;
  seen: () => Promise<Seen>;
} {
  const clock = new ManualClock(Date.parse("2026-10-22T10:00:00Z"));
  vi.spyOn(Date, "now").mockImplementation(() => clock.now());
  const world = testWorld(registry, { clock, ...(fault ? { fault: (_, commit) => fault(commit) } : {}) });
  const shop = world.actor("salesReportActor", ["shop"]);
  return { world, shop, seen: async () => (await shop.call("getState")) as Seen };
}

describe("the example cron-report", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test("writes a report at the end of each working day, through the change of the clocks and crashes", async () => {
    const { world, shop, seen } = open();
    await shop.call("sell", "tea", 4);
    await shop.call("sell", "cup", 9);
    await shop.call("sell", "tea", 2);
    shop.crash();
    await world.pass(6 * HOUR_MS);
    expect((await seen()).reports).toEqual([{ day: "2026-10-22", sales: 3, total: 15, byProduct: { tea: 6, cup: 9 } }]);
    for (let day = 1; day < 5; day += 1) {
      await shop.call("sell", "tea", day);
      shop.crash();
      await world.pass(DAY_MS);
    }
    const { reports, sales, nextRunAt } = await seen();
    // No report at the weekend; on Monday the clocks have changed, and 18:00 is an hour later in UTC.
    expect(reports.map(({ day, total }) => [day, total])).toEqual([
      ["2026-10-22", 15],
      ["2026-10-23", 1],
    ]);
    expect(new Date(nextRunAt).toISOString()).toBe("2026-10-26T17:00:00.000Z");
    expect(sales).toHaveLength(3);
    await world.pass(2 * HOUR_MS);
    expect((await seen()).reports.at(-1)).toEqual({ day: "2026-10-26", sales: 3, total: 9, byProduct: { tea: 9 } });
  });

  test("writes one report for days in which nothing could run, of the first of them", async () => {
    const { world, shop, seen } = open();
    await shop.call("sell", "tea", 4);
    shop.crash();
    world.clock.moveTo(world.clock.now() + 21 * DAY_MS);
    await world.settle();
    expect((await seen()).reports).toMatchObject([{ day: "2026-10-22", total: 4 }]);
  });

  test("follows another plan, and remembers it; registering it again at each start writes nothing", async () => {
    const { world, shop, seen } = open();
    await shop.call("setPlan", { everySeconds: 5 });
    await world.pass(11_000);
    expect((await seen()).reports).toHaveLength(2);
    const { nextRunAt } = await seen();
    const { rows, alarmWrites } = shop.store;
    shop.crash();
    expect((await seen()).nextRunAt).toBe(nextRunAt);
    expect([shop.store.rows, shop.store.alarmWrites]).toEqual([rows, alarmWrites]);
    await expect(shop.call("setPlan", { expression: "at six", timezone: "UTC" })).rejects.toMatchObject({
      code: "invalid_cron_expression",
    });
    expect((await seen()).nextRunAt).toBe(nextRunAt);
  });

  test("may be made with a plan of its own, and asked for a report now", async () => {
    const { shop, seen } = open();
    await shop.send(
      { mode: "create", input: encodeValue({ plan: { expression: "0 9 * * *", timezone: "Asia/Tokyo" } }) },
      { kind: "resolve" },
    );
    expect(new Date((await seen()).nextRunAt).toISOString()).toBe("2026-10-23T00:00:00.000Z");
    await shop.call("sell", "tea", 4);
    expect(await shop.call("writeReport")).toEqual({ day: "2026-10-22", sales: 1, total: 4, byProduct: { tea: 4 } });
  });

  test("has each sale in one report, wherever it is cut off; the report that was lost with a run is made by the next", async () => {
    const sell = async (
      fault?: Parameters<typeof open>[0],
    ): Promise<{ reports: Report[]; crashes: number; commits: number }> => {
      let armed = false;
      let before = 0;
      const { world, shop, seen } = open((commit) => (armed ? fault?.(commit - before) : undefined));
      await shop.call("setPlan", { everySeconds: 10 });
      await shop.call("sell", "tea", 4);
      before = shop.store.commits;
      armed = true;
      await world.pass(25_000);
      armed = false;
      const commits = shop.store.commits - before;
      await shop.call("sell", "cup", 9);
      await world.pass(20_000);
      return { reports: (await seen()).reports, crashes: shop.crashes, commits };
    };
    const { commits } = await sell();
    expect(commits).toBeGreaterThan(3);
    for (let at = 1; at <= commits; at += 1) {
      for (const kind of ["crash-before", "crash-after"] as const) {
        const { reports, crashes } = await sell((commit) => (commit === at ? kind : undefined));
        expect(crashes, `${kind} ${at}`).toBe(1);
        expect(
          reports.reduce((sum, { total }) => sum + total, 0),
          `${kind} ${at}`,
        ).toBe(13);
        expect(
          reports.reduce((sum, { sales }) => sum + sales, 0),
          `${kind} ${at}`,
        ).toBe(2);
      }
    }
  });
});
