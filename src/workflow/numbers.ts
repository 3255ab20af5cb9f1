/** Validates the numbers that user code passes as options. */
import { ActorError } from "../protocol/index.js";

/** The latest time a `Date` can hold, epoch ms. */
export const LAST_TIME_MS = 8_640_000_000_000_000;

/** What an option may be, and the words for the error when it is not. */
export interface NumberRule {
  readonly allows: (value: number) => boolean;
  readonly must: string;
}

export const COUNT_OR_INFINITY: NumberRule = {
  allows: (value) => value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && value >= 0),
  must: "an integer of at least 0, or Infinity",
};
export const POSITIVE_COUNT: NumberRule = {
  allows: (value) => Number.isSafeInteger(value) && value > 0,
  must: "an integer of at least 1",
};
export const DURATION: NumberRule = {
  allows: (value) => value >= 0 && value <= LAST_TIME_MS,
  must: "a number of ms from 0 to 8,640,000,000,000,000",
};
export const MAXIMUM: NumberRule = { allows: (value) => value >= 0, must: "a number of ms, of at least 0" };
export const LIMIT: NumberRule = {
  allows: (value) => !Number.isNaN(value),
  must: "a number of ms; 0 or Infinity is no limit",
};

/** Returns an error `workflow/<code>` for the first option that breaks its rule; options left out are valid. */
export function numberProblem<O extends object>(
  what: string,
  code: string,
  options: O,
  rules: Partial<Record<keyof O, NumberRule>>,
): ActorError | undefined {
  for (const [name, rule] of Object.entries(rules) as [keyof O & string, NumberRule][]) {
    const value: unknown = Object.hasOwn(options, name) ? options[name] : undefined;
    if (value === undefined || (typeof value === "number" && rule.allows(value))) continue;
    return new ActorError(
      "workflow",
      code,
      `${what}: \`${name}\` must be ${rule.must}, not ${typeof value === "number" ? value : typeof value}`,
    );
  }
  return undefined;
}
