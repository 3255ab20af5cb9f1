import { Cron } from "croner";
import { expect, it } from "vitest";
import { nextCronTime } from "../../../src/actor/internal.js";
import { seededRandom } from "../../support/seeded-random.js";

// croner read the expressions of earlier releases, whose jobs are stored: it stays the measure of what one means.

const COUNT = 600;
const random = seededRandom(7);
const below = (limit: number): number => Math.floor(random() * limit);
const oneOf = <T>(list: readonly T[]): T => list[below(list.length)] as T;

/** A field that is mostly right, in every form that croner knows. */
function randomField(low: number, high: number, names: readonly string[], forms: readonly string[]): string {
  const word = (): string => {
    const value = low + below(high - low + 2) - (random() < 0.02 ? 1 : 0);
    const name = names[value - low];
    return name !== undefined && random() < 0.4 ? name : String(value);
  };
  const item = (): string => {
    switch (oneOf(["*", "number", "number", "range", "step", "rangeStep", ...forms])) {
      case "*":
        return oneOf(["*", "*", "?"]);
      case "range":
        return `${word()}-${word()}`;
      case "step":
        return `${random() < 0.9 ? "*" : word()}/${below(high + 3)}`;
      case "rangeStep":
        return `${word()}-${word()}/${1 + below(5)}`;
      case "L":
        return oneOf(["L", "l", "LW", "lw"]);
      case "W":
        return `${word()}${oneOf(["W", "w"])}`;
      case "nth":
        return `${word()}#${below(7)}`;
      case "last":
        return `${word()}${oneOf(["L", "l", "#L"])}`;
      case "nthRange":
        return `${word()}-${word()}#${1 + below(5)}`;
      default:
        return word();
    }
  };
  return Array.from({ length: random() < 0.75 ? 1 : 2 }, item).join(",");
}

const START = Date.parse("2024-01-01T00:00Z");
const DAY_MINUTES = 24 * 60;
/** From when on a day a clock of these zones may change. */
const CHANGES = [
  "2026-03-28T16:00Z",
  "2026-10-24T16:00Z",
  "2026-03-08T00:00Z",
  "2026-11-01T00:00Z",
  "2026-04-04T12:00Z",
].map(Date.parse);
const MONTHS = ["JAN", "feb", "Mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "DEC"];
const WEEKDAYS = ["SUN", "mon", "Tue", "wed", "thu", "fri", "sat"];

function randomExpression(): string {
  const minute = randomField(0, 59, [], []);
  const hour = randomField(0, 23, [], []);
  const day = random() < 0.4 ? "*" : randomField(1, 31, [], ["L", "W", "W"]);
  const month = random() < 0.6 ? "*" : randomField(1, 12, MONTHS, []);
  const weekday = random() < 0.4 ? "*" : randomField(0, 6, WEEKDAYS, ["nth", "nth", "last", "nthRange"]);
  return `${minute} ${hour} ${day} ${month} ${random() < 0.1 ? "+" : ""}${weekday}`;
}

/** As earlier releases asked it: times that fall into a gap of the clock are passed over. */
function nextOfCroner(expression: string, timezone: string, after: number): number | undefined | "refused" {
  let cron: Cron;
  try {
    cron = new Cron(expression, { timezone, mode: "5-part", paused: true });
  } catch {
    return "refused";
  }
  let time: Date | null = new Date(after);
  for (let skipped = 0; skipped < 40; skipped += 1) {
    time = cron.nextRun(time);
    if (time === null) return undefined;
    if (cron.match(time)) return time.getTime();
  }
  return undefined;
}

function next(expression: string, timezone: string, after: number): number | undefined | "refused" {
  try {
    return nextCronTime(expression, timezone, after);
  } catch {
    return "refused";
  }
}

it("expressions are read as croner reads them, and come true at the same times", () => {
  const outcomes = { refused: 0, never: 0, agreed: 0 };
  for (let n = 0; n < COUNT; n += 1) {
    const expression = randomExpression();
    const timezone = oneOf(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"]);
    const after =
      random() < 0.5 ? START + below(6 * 365 * DAY_MINUTES) * 60_000 : oneOf(CHANGES) + below(DAY_MINUTES) * 60_000;
    const expected = nextOfCroner(expression, timezone, after);
    const actual = next(expression, timezone, after);
    expect([expression, timezone, after, actual]).toEqual([expression, timezone, after, expected]);
    outcomes[expected === "refused" ? "refused" : expected === undefined ? "never" : "agreed"] += 1;
  }
  expect(outcomes.refused).toBeGreaterThan(COUNT / 20);
  expect(outcomes.agreed).toBeGreaterThan(COUNT / 3);
});
