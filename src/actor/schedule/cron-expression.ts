import { Cron } from "croner";
import { ActorError, own } from "../../protocol/index.js";

/** Long enough for an expression that lists all 60 minutes. */
const MAX_EXPRESSION = 512;
/** The most occurrences in a row that may fall into gaps of the clock: a job on one night a year meets few. */
const MAX_SKIPPED = 40;

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
  const cron = parse(expression, timezone);
  let time: Date | null = new Date(after);
  for (let skipped = 0; skipped < MAX_SKIPPED; skipped += 1) {
    time = cron.nextRun(time);
    if (time === null) return undefined;
    // The library moves a time in the gap to the end of the gap, which does not match the expression.
    if (cron.match(time)) return time.getTime();
  }
  return undefined;
}

function parse(expression: unknown, timezone: unknown): Cron {
  if (
    typeof expression !== "string" ||
    expression.length > MAX_EXPRESSION ||
    expression.trim().split(/\s+/).length !== 5
  ) {
    throw invalidExpression(
      expression,
      "it must have five fields: minute, hour, day of the month, month, day of the week",
    );
  }
  const zone = canonicalZone(timezone);
  try {
    // Paused and without a callback: only computes times.
    return new Cron(expression.trim(), own({ timezone: zone, mode: "5-part", paused: true } as const));
  } catch (error) {
    throw invalidExpression(
      expression,
      error instanceof Error ? error.message.replace(/^CronPattern: /, "") : String(error),
    );
  }
}

/** The zone's canonical name: the library caches a formatter for each spelling. */
function canonicalZone(timezone: unknown): string {
  try {
    if (typeof timezone === "string")
      return new Intl.DateTimeFormat("en-US", own({ timeZone: timezone })).resolvedOptions().timeZone;
  } catch {
    // Not a time zone.
  }
  throw new ActorError(
    "schedule",
    "invalid_timezone",
    `Time zone ${quote(timezone)} does not exist; use a name such as "Europe/Berlin"`,
  );
}

export function invalidExpression(expression: unknown, why: string): ActorError {
  return new ActorError("schedule", "invalid_cron_expression", `${quote(expression)} is not a cron expression: ${why}`);
}

function quote(text: unknown): string {
  return typeof text === "string" ? JSON.stringify(text.slice(0, 100)) : `of type ${typeof text}`;
}
