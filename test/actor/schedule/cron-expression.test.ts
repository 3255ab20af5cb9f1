import { describe, expect, it, vi } from "vitest";
import { nextCronTime } from "../../../src/actor/internal.js";
import { seededRandom } from "../../support/seeded-random.js";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The next times, as UTC strings to the minute. */
function times(expression: string, timezone: string, from: string, count: number): string[] {
  const found: string[] = [];
  for (let at: number | undefined = Date.parse(from); found.length < count;) {
    at = nextCronTime(expression, timezone, at);
    if (at === undefined) return found;
    found.push(new Date(at).toISOString().slice(0, 16));
  }
  return found;
}

describe("cron expressions", () => {
  it("come true at the minutes that their five fields name", () => {
    expect(times("*/20 9-10 * * *", "UTC", "2026-03-01T10:00Z", 3)).toEqual([
      "2026-03-01T10:20",
      "2026-03-01T10:40",
      "2026-03-02T09:00",
    ]);
    expect(times("0 0 1 JAN,jul *", "UTC", "2026-03-01T00:00Z", 2)).toEqual(["2026-07-01T00:00", "2027-01-01T00:00"]);
    expect(times("0 0 29 2 *", "UTC", "2026-03-01T00:00Z", 2)).toEqual(["2028-02-29T00:00", "2032-02-29T00:00"]);
    expect(times("0 8 * * 1-5", "UTC", "2026-11-27T09:00Z", 2)).toEqual(["2026-11-30T08:00", "2026-12-01T08:00"]);
    expect(times("0 0 * * 0", "UTC", "2026-11-28T09:00Z", 1)).toEqual(
      times("0 0 * * 7", "UTC", "2026-11-28T09:00Z", 1),
    );
    // With both days given, either matches.
    expect(times("0 0 13 * FRI", "UTC", "2026-11-01T00:00Z", 3)).toEqual([
      "2026-11-06T00:00",
      "2026-11-13T00:00",
      "2026-11-20T00:00",
    ]);
  });

  it("come true strictly after the given time, on whole minutes", () => {
    const minute = Date.parse("2026-03-01T10:00Z");
    for (const [after, next] of [
      [-1, 0],
      [0, 1],
      [1, 1],
      [59_999, 1],
      [60_000, 2],
    ] as const) {
      expect(nextCronTime("* * * * *", "UTC", minute + after), String(after)).toBe(minute + next * MINUTE_MS);
    }
  });

  it("are read in their time zone, in summer and in winter", () => {
    expect(times("0 9 * * *", "America/Los_Angeles", "2026-03-07T00:00Z", 3)).toEqual([
      "2026-03-07T17:00",
      "2026-03-08T16:00",
      "2026-03-09T16:00",
    ]);
    expect(times("0 9 * * *", "Asia/Kolkata", "2026-03-07T00:00Z", 1)).toEqual(["2026-03-07T03:30"]);
    expect(times("0 9 * * *", "asia/kolkata", "2026-03-07T00:00Z", 1)).toEqual(["2026-03-07T03:30"]);
  });

  it("skip a local time that a change of the clocks leaves out", () => {
    // 2026-03-29 in Berlin: 02:00 to 03:00 does not exist.
    expect(times("30 2 * * *", "Europe/Berlin", "2026-03-27T12:00Z", 2)).toEqual([
      "2026-03-28T01:30",
      "2026-03-30T00:30",
    ]);
    expect(times("*/30 2-3 * * *", "Europe/Berlin", "2026-03-28T12:00Z", 3)).toEqual([
      "2026-03-29T01:00",
      "2026-03-29T01:30",
      "2026-03-30T00:00",
    ]);
    // In Santiago midnight itself is skipped.
    expect(times("0 0 * * *", "America/Santiago", "2026-09-05T12:00Z", 2)).toEqual([
      "2026-09-07T03:00",
      "2026-09-08T03:00",
    ]);
  });

  it("come once at a local time that comes twice, if it is one time of the day", () => {
    // 2026-10-25 in Berlin: 02:00 to 03:00 comes twice.
    expect(times("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", 2)).toEqual([
      "2026-10-25T00:30",
      "2026-10-26T01:30",
    ]);
    // Also just after the first of the two, and between them.
    expect(times("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30Z", 1)).toEqual(["2026-10-26T01:30"]);
    expect(times("30 2 * * *", "Europe/Berlin", "2026-10-25T01:10Z", 1)).toEqual(["2026-10-26T01:30"]);
  });

  it("go on through a repeated hour if they come again and again", () => {
    expect(times("*/30 * * * *", "Europe/Berlin", "2026-10-24T23:30Z", 5)).toEqual([
      "2026-10-25T00:00",
      "2026-10-25T00:30",
      "2026-10-25T01:00",
      "2026-10-25T01:30",
      "2026-10-25T02:00",
    ]);
  });

  it("have no next time if they name a day that does not exist, or only times that are left out", () => {
    expect(nextCronTime("0 0 31 2 *", "UTC", 0)).toBe(undefined);
    expect(nextCronTime("30 2 * 3 SUN#L", "Europe/Berlin", Date.parse("2026-01-01T00:00Z"))).toBe(undefined);
  });

  it.each([
    "",
    "* * * *",
    "* * * * * *",
    "0 0 0 1 1 * 2030",
    "@daily",
    "2030-01-01T00:00:00",
    "60 * * * *",
    "* 24 * * *",
    "* * 0 * *",
    "* * 32 * *",
    "* * * 13 *",
    "* * * * 8",
    "-1 * * * *",
    "*/0 * * * *",
    "5-1 * * * *",
    "a b c d e",
    "* * * * MONDAY",
    "1,,2 * * * *",
    `${"1,".repeat(300)}1 * * * *`,
  ])("refuse %j", (expression) => {
    expect(() => nextCronTime(expression, "UTC", 0)).toThrow(
      expect.objectContaining({ group: "schedule", code: "invalid_cron_expression", statusCode: 400 }),
    );
  });

  it.each([undefined, null, 5, {}, [], ["* * * * *"], Object("* * * * *")])(
    "refuse %j, which is no text",
    (expression) => {
      expect(() => nextCronTime(expression as string, "UTC", 0)).toThrow(
        expect.objectContaining({ code: "invalid_cron_expression" }),
      );
    },
  );

  it.each(["", "Nowhere/City", "Berlin", "Europe/Berlin ", "UTC\0", null, 5, {}, ["UTC"]])(
    "refuse the time zone %j",
    (timezone) => {
      expect(() => nextCronTime("* * * * *", timezone as string, 0)).toThrow(
        expect.objectContaining({ group: "schedule", code: "invalid_timezone", statusCode: 400 }),
      );
    },
  );

  it("do not depend on the clock of the machine", () => {
    const ask = (): unknown[] => [
      nextCronTime("15 3 * * *", "Europe/Berlin", 1_700_000_000_000),
      nextCronTime("*/7 * * 2 MON", "UTC", 2_000_000_000_000),
    ];
    const before = ask();
    vi.useFakeTimers({ now: 4_000_000_000_000 });
    try {
      expect(ask()).toEqual(before);
    } finally {
      vi.useRealTimers();
    }
  });
});

// ---- an oracle that reads expressions by itself and walks through the minutes ---------------------------------------

type Field = {
  readonly text: string;
  readonly values: ReadonlySet<number>;
  readonly single: boolean;
  readonly all: boolean;
};

const FIELDS = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
] as const;

function randomField(random: () => number, [low, high]: readonly [number, number], wide: number): Field {
  const below = (limit: number): number => Math.floor(random() * limit);
  const any = (): number => low + below(high - low + 1);
  const range = (from: number, to: number, step: number): number[] =>
    Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
  const roll = random();
  if (roll < wide) return { text: "*", values: new Set(range(low, high, 1)), single: false, all: true };
  if (roll < wide + (1 - wide) * 0.4) {
    const value = any();
    return { text: String(value), values: new Set([value]), single: true, all: false };
  }
  if (roll < wide + (1 - wide) * 0.6) {
    const step = 1 + below(high - low);
    return { text: `*/${step}`, values: new Set(range(low, high, step)), single: false, all: false };
  }
  const [from, to] = [any(), any()].sort((a, b) => a - b) as [number, number];
  const step = 1 + below(Math.max(1, to - from));
  const extra = any();
  return {
    text: `${from}-${to}/${step},${extra}`,
    values: new Set([...range(from, to, step), extra]),
    single: false,
    all: false,
  };
}

/** The zone's clock, read as if it were UTC, for a whole minute. */
function localClock(timezone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  const offsets = new Map<number, number>();
  return (at) => {
    const quarter = Math.floor(at / (15 * MINUTE_MS));
    let offset = offsets.get(quarter);
    if (offset === undefined) {
      const part = Object.fromEntries(
        format.formatToParts(quarter * 15 * MINUTE_MS).map(({ type, value }) => [type, Number(value)]),
      );
      offset =
        Date.UTC(part["year"] ?? 0, (part["month"] ?? 0) - 1, part["day"], part["hour"], part["minute"]) -
        quarter * 15 * MINUTE_MS;
      offsets.set(quarter, offset);
    }
    return at + offset;
  };
}

function oracle(fields: readonly Field[], timezone: string, after: number, days: number): number | undefined {
  const [minute, hour, day, month, weekday] = fields as [Field, Field, Field, Field, Field];
  const local = localClock(timezone);
  const isFixed = minute.single && hour.single;
  for (let at = (Math.floor(after / MINUTE_MS) + 1) * MINUTE_MS; at <= after + days * DAY_MS; at += MINUTE_MS) {
    const clock = local(at);
    const date = new Date(clock);
    if (
      !minute.values.has(date.getUTCMinutes()) ||
      !hour.values.has(date.getUTCHours()) ||
      !month.values.has(date.getUTCMonth() + 1)
    )
      continue;
    const [isDay, isWeekday] = [day.values.has(date.getUTCDate()), weekday.values.has(date.getUTCDay())];
    if (!(day.all || weekday.all ? isDay && isWeekday : isDay || isWeekday)) continue;
    // The clock showed the same time before, within three hours, the longest clock change.
    const isSecond = Array.from({ length: 180 }, (_, index) => at - (index + 1) * MINUTE_MS).some(
      (before) => local(before) === clock,
    );
    if (!isFixed || !isSecond) return at;
  }
  return undefined;
}

describe("against an oracle that walks through the minutes", () => {
  const CHANGES = [
    ["UTC", "2026-03-29T01:00Z"],
    ["Europe/Berlin", "2026-03-29T01:00Z"],
    ["Europe/Berlin", "2026-10-25T01:00Z"],
    ["America/New_York", "2026-03-08T07:00Z"],
    ["America/New_York", "2026-11-01T06:00Z"],
    ["Australia/Lord_Howe", "2026-04-04T15:00Z"],
    ["Australia/Lord_Howe", "2026-10-03T15:30Z"],
    ["America/Santiago", "2026-09-06T04:00Z"],
    ["America/Santiago", "2026-04-05T03:00Z"],
    ["Asia/Kolkata", "2026-12-31T18:30Z"],
    ["Pacific/Kiritimati", "2027-02-28T10:00Z"],
    ["Africa/Cairo", "2026-04-23T22:00Z"],
    ["Atlantic/Azores", "2026-10-25T01:00Z"],
  ] as const;

  for (const [timezone, change] of CHANGES) {
    it(`agrees on random expressions around ${change} in ${timezone}`, () => {
      const random = seededRandom(Date.parse(change) + timezone.length);
      let agreed = 0;
      for (let n = 0; n < 60; n += 1) {
        const fields = FIELDS.map((bounds, index) => randomField(random, bounds, index < 2 ? 0.25 : 0.7));
        const expression = fields.map(({ text }) => text).join(" ");
        const after = Date.parse(change) + Math.floor((random() * 3 - 2) * DAY_MS);
        const expected = oracle(fields, timezone, after, 3);
        const actual = nextCronTime(expression, timezone, after);
        if (expected !== undefined) agreed += 1;
        const isBeyond = expected === undefined && (actual === undefined || actual > after + 3 * DAY_MS);
        expect(
          isBeyond || actual === expected,
          `${expression} after ${new Date(after).toISOString()}: ${actual}, not ${expected}`,
        ).toBe(true);
      }
      expect(agreed).toBeGreaterThan(20);
    });
  }
});
