import { ActorError, encodeValue, isWellFormed, sameBytes, utf8Length } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { Cadence, CronJob } from "../storage/deadlines.js";
import { invalidExpression, nextCronTime } from "./cron-expression.js";
import type { CronEveryOptions, CronSetOptions } from "../api/schedule-types.js";

/** The fields of a job that the user sets. The others record its past. */
export type CronRequest = Pick<CronJob, "action" | "args" | "maxHistory">;

const MAX_NAME_BYTES = 128;
const MIN_INTERVAL_MS = 5_000;
/** A hundred years: the next time must be a date. */
const MAX_INTERVAL_MS = 100 * 365.25 * 86_400_000;
const DEFAULT_HISTORY = 100;
const MAX_HISTORY = 1_000;

/** The first time of a cadence after `after`, epoch ms; undefined if there is none. */
export function nextTime(cadence: Cadence, after: number): number | undefined {
  if (cadence.kind === "cron") return nextCronTime(cadence.expression, cadence.timezone, after);
  const { anchor, interval } = cadence;
  return anchor + (Math.floor((after - anchor) / interval) + 1) * interval;
}

/** @throws {schedule/invalid_name} when it is not a string of 1 to 128 bytes */
export function checkName(name: unknown): string {
  if (typeof name === "string" && name !== "" && isWellFormed(name) && utf8Length(name) <= MAX_NAME_BYTES) return name;
  throw new ActorError("schedule", "invalid_name", `A job name must be a string of 1 to ${MAX_NAME_BYTES} bytes`);
}

/**
 * @throws {actor/action_not_found} when the actor has no such action
 * @throws {schedule/invalid_max_history} when `maxHistory` is not an integer from 0 to 1,000
 * @throws {schedule/invalid_args} when `args` is not an array
 * @throws {value/not_serializable} when an argument cannot be stored
 * @throws {value/too_large} when the arguments are too large
 */
export function checkRequest(
  { actor }: Pick<ActorActivation, "actor">,
  options: CronSetOptions | CronEveryOptions,
): CronRequest {
  const { action, args = [], maxHistory = DEFAULT_HISTORY } = options;
  if (!actor.actions.has(action))
    throw new ActorError("actor", "action_not_found", `Action \`${String(action)}\` was not found.`);
  if (!Number.isInteger(maxHistory) || maxHistory < 0 || maxHistory > MAX_HISTORY) {
    throw new ActorError(
      "schedule",
      "invalid_max_history",
      `\`maxHistory\` must be an integer from 0 to ${MAX_HISTORY}`,
    );
  }
  if (!Array.isArray(args))
    throw new ActorError("schedule", "invalid_args", "The arguments of an action must be an array");
  return { action, args: encodeValue(args, { what: "args" }), maxHistory };
}

/** @throws {schedule/invalid_interval} when it is not an integer from 5,000 ms to a hundred years */
export function checkInterval(interval: unknown): number {
  if (
    Number.isSafeInteger(interval) &&
    (interval as number) >= MIN_INTERVAL_MS &&
    (interval as number) <= MAX_INTERVAL_MS
  )
    return interval as number;
  throw new ActorError(
    "schedule",
    "invalid_interval",
    `An interval must be an integer of ms, at least ${MIN_INTERVAL_MS} and at most a hundred years`,
  );
}

/**
 * When a new job of this cadence is first due, epoch ms.
 * @throws {schedule/invalid_cron_expression} when the expression is not valid or never matches
 * @throws {schedule/invalid_timezone} when the time zone does not exist
 */
export function firstTime(cadence: Cadence, now: number): number {
  const at = nextTime(cadence, now);
  if (at === undefined) throw invalidExpression(cadence.kind === "cron" ? cadence.expression : "", "it never matches");
  return at;
}

/** True if both have the same times, wherever their grid begins. */
export function isSameCadence(a: Cadence, b: Cadence): boolean {
  if (a.kind === "cron") return b.kind === "cron" && a.expression === b.expression && a.timezone === b.timezone;
  return a.kind === "every" && b.kind === "every" && a.interval === b.interval;
}

export function isSameRequest(a: CronRequest, b: CronRequest): boolean {
  return a.action === b.action && a.maxHistory === b.maxHistory && sameBytes(a.args, b.args);
}
