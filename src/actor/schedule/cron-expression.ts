import { ActorError, own } from "../../protocol/index.js";
import { readCronFields, type CronFields } from "./cron-fields.js";

/** Long enough for an expression that lists all 60 minutes. */
const MAX_EXPRESSION = 512;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** The 29th of February is a given day of the week after 40 years at the latest. */
const MAX_DAYS = 100 * 366;

/**
 * The first time after `after` (epoch ms) that matches the expression in the time zone; undefined if there is none.
 *
 * The expression has five fields: minute, hour, day of the month, month, day of the week. If both days are given,
 * either matches. A local time skipped by a clock change is not an occurrence. One that is repeated is one occurrence
 * if minute and hour are single numbers, and two otherwise, so that `*\/15 * * * *` continues through the repeated
 * hour.
 *
 * @throws {schedule/invalid_cron_expression} when the expression is not valid
 * @throws {schedule/invalid_timezone} when the time zone does not exist
 */
export function nextCronTime(expression: string, timezone: string, after: number): number | undefined {
  const fields = parse(expression);
  const offsetAt = offsetsOf(timezone);
  const local = after + offsetAt(after);
  // From the day before: a clock that is set back over midnight shows it again.
  const start = local - (((local % DAY_MS) + DAY_MS) % DAY_MS) - DAY_MS;
  const firstOn = (day: number): number => (fields.isDay(day) ? firstOfDay(fields, day, after, offsetAt) : Infinity);
  for (let day = start; day < start + MAX_DAYS * DAY_MS; day += DAY_MS) {
    const time = firstOn(day);
    // For the same reason the day after may come first.
    if (time < Infinity) return Math.min(time, firstOn(day + DAY_MS));
  }
  return undefined;
}

/** The first time after `after` that the clock shows on a day, given as its midnight in UTC; Infinity if there is none. */
function firstOfDay(
  { hours, minutes, isFixedTime }: CronFields,
  day: number,
  after: number,
  offsetAt: (time: number) => number,
): number {
  const near = offsetAt(day);
  // A clock change is at most a few hours away from the day that it falls on, and there is one at most. The greatest offset
  // is first: by it a shown time is earliest.
  const offsets = [...new Set([near, offsetAt(day - near - 3 * HOUR_MS), offsetAt(day - near + 27 * HOUR_MS)])].sort(
    (a, b) => b - a,
  );
  const [greatest = 0, least = greatest] = [offsets[0], offsets.at(-1)];
  let first = Infinity;
  for (const hour of hours) {
    if (day + (hour + 1) * HOUR_MS - least <= after) continue;
    for (const minute of minutes) {
      const shown = day + hour * HOUR_MS + minute * MINUTE_MS;
      if (shown - greatest >= first) return first;
      for (const offset of offsets) {
        const time = shown - offset;
        // Of a fixed time the first counts, even if it is over.
        if ((time <= after && !isFixedTime) || (offsets.length > 1 && offsetAt(time) !== offset)) continue;
        if (time > after) first = Math.min(first, time);
        break;
      }
    }
  }
  return first;
}

function parse(expression: unknown): CronFields {
  const fields =
    typeof expression === "string" && expression.length <= MAX_EXPRESSION
      ? expression.trim().replaceAll("?", "*").split(/\s+/)
      : [];
  if (fields.length !== 5) {
    throw invalidExpression(
      expression,
      "it must have five fields: minute, hour, day of the month, month, day of the week",
    );
  }
  try {
    return readCronFields(fields);
  } catch (error) {
    throw invalidExpression(expression, (error as Error).message);
  }
}

/** How far the clocks of a time zone are ahead of UTC at a time, in ms. */
function offsetsOf(timezone: unknown): (time: number) => number {
  try {
    if (typeof timezone === "string") {
      const format = new Intl.DateTimeFormat("en-US", own({ timeZone: timezone, timeZoneName: "longOffset" } as const));
      return (time) => offsetIn(format.format(time));
    }
  } catch {
    // Not a time zone.
  }
  throw new ActorError(
    "schedule",
    "invalid_timezone",
    `Time zone ${quote(timezone)} does not exist; use a name such as "Europe/Berlin"`,
  );
}

/** Of "3/29/2026, GMT+02:00", two hours; GMT alone is none. */
function offsetIn(text: string): number {
  const [, sign, hours, minutes, seconds = 0] = /([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(text) ?? [];
  if (sign === undefined) return 0;
  return Number(`${sign}1`) * (Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS + Number(seconds) * 1_000);
}

export function invalidExpression(expression: unknown, why: string): ActorError {
  return new ActorError("schedule", "invalid_cron_expression", `${quote(expression)} is not a cron expression: ${why}`);
}

function quote(text: unknown): string {
  return typeof text === "string" ? JSON.stringify(text.slice(0, 100)) : `of type ${typeof text}`;
}
