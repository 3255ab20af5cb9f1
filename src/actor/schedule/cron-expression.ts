import { Cron } from "croner";
import { ActorError, own } from "../../protocol/index.js";

/** An expression that lists every minute of the hour, by numbers, is shorter. */
const MAX_EXPRESSION = 512;
/** Occurrences that stand in the gap of a time change in a row: a job of the same night each year meets few of them. */
const MAX_SKIPPED = 40;

/**
 * The first time after `after` (epoch ms) at which the expression comes true in the time zone; undefined: there is none.
 *
 * The expression has five fields: minute, hour, day of the month, month, day of the week; with both days given, either
 * counts. A local time that a change of the clocks leaves out is no occurrence. One that comes twice is one occurrence
 * if minute and hour are single numbers, and two otherwise, so that `*\/15 * * * *` goes on through the repeated hour.
 *
 * @throws schedule/invalid_cron_expression, schedule/invalid_timezone
 */
export function nextCronTime(expression: string, timezone: string, after: number): number | undefined {
  const cron = parse(expression, timezone);
  let time: Date | null = new Date(after);
  for (let skipped = 0; skipped < MAX_SKIPPED; skipped += 1) {
    time = cron.nextRun(time);
    if (time === null) return undefined;
    // The library moves what falls into the gap to its end, which is not what the expression says.
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
    throw invalidExpression(expression, "it has five fields: minute, hour, day of the month, month, day of the week");
  }
  const zone = canonicalZone(timezone);
  try {
    // Paused and without a function: it computes times and starts nothing.
    return new Cron(expression.trim(), own({ timezone: zone, mode: "5-part", paused: true } as const));
  } catch (error) {
    throw invalidExpression(
      expression,
      error instanceof Error ? error.message.replace(/^CronPattern: /, "") : String(error),
    );
  }
}

/** The zone's own spelling: the library keeps a formatter for each name that it is given. */
function canonicalZone(timezone: unknown): string {
  try {
    if (typeof timezone === "string")
      return new Intl.DateTimeFormat("en-US", own({ timeZone: timezone })).resolvedOptions().timeZone;
  } catch {
    // Said below.
  }
  throw new ActorError(
    "schedule",
    "invalid_timezone",
    `There is no time zone ${quote(timezone)}; give a name such as "Europe/Berlin"`,
  );
}

/** @throws schedule/invalid_cron_expression */
export function invalidExpression(expression: unknown, why: string): ActorError {
  return new ActorError("schedule", "invalid_cron_expression", `${quote(expression)} is no cron expression: ${why}`);
}

function quote(text: unknown): string {
  return typeof text === "string" ? JSON.stringify(text.slice(0, 100)) : `of type ${typeof text}`;
}
