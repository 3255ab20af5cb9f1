import {
  DEFAULT_MAX_RETRIES,
  DEFAULT_RETRY_BACKOFF_BASE_MS,
  DEFAULT_RETRY_BACKOFF_MAX_MS,
  DEFAULT_STEP_TIMEOUT_MS,
} from "./limits.js";
import { backoffMs, type ActorError } from "../protocol/index.js";
import { readProperty } from "./history/stored-error.js";
import { COUNT_OR_INFINITY, DURATION, LAST_TIME_MS, LIMIT, MAXIMUM, numberProblem } from "./numbers.js";

/** A step's retry options. All durations in ms. */
export interface RetryConfig {
  readonly maxRetries?: number;
  readonly retryBackoffBase?: number;
  readonly retryBackoffMax?: number;
  readonly timeout?: number;
  readonly retryOnTimeout?: boolean;
}

/** The same with every default filled in. */
export interface RetryPolicy {
  readonly maxRetries: number;
  readonly backoffBaseMs: number;
  readonly backoffMaxMs: number;
  /** undefined: no limit. */
  readonly timeoutMs: number | undefined;
  readonly retryOnTimeout: boolean;
}

/** Why a step's numbers are not valid, or undefined. */
export function retryProblem(name: string, config: RetryConfig): ActorError | undefined {
  return numberProblem(`Step "${name}"`, "invalid_step", config, {
    maxRetries: COUNT_OR_INFINITY,
    retryBackoffBase: DURATION,
    retryBackoffMax: MAXIMUM,
    timeout: LIMIT,
  });
}

/** Fills in defaults, also for invalid numbers: earlier releases recorded steps without validating them. */
export function retryPolicy(config: RetryConfig): RetryPolicy {
  return {
    maxRetries: nonNegative(config.maxRetries, DEFAULT_MAX_RETRIES),
    backoffBaseMs: nonNegative(config.retryBackoffBase, DEFAULT_RETRY_BACKOFF_BASE_MS),
    backoffMaxMs: nonNegative(config.retryBackoffMax, DEFAULT_RETRY_BACKOFF_MAX_MS),
    timeoutMs: timeoutOf(config.timeout ?? DEFAULT_STEP_TIMEOUT_MS),
    retryOnTimeout: config.retryOnTimeout ?? false,
  };
}

/** The longest delay between two attempts, also for `retryAfter`. */
const MAX_DELAY_MS = 365 * 24 * 60 * 60 * 1_000;

/** The delay after the n-th failure, in ms: `min(max, base · 2^n)`, or the thrown error's `retryAfter`; at most a year. */
export function retryDelayMs(policy: RetryPolicy, failures: number, thrown: unknown): number {
  const asked = readProperty(thrown, "retryAfter");
  if (typeof asked === "number" && Number.isFinite(asked) && asked >= 0) return Math.min(MAX_DELAY_MS, asked);
  return backoffMs(failures + 1, { firstMs: policy.backoffBaseMs, maxMs: Math.min(MAX_DELAY_MS, policy.backoffMaxMs) });
}

/** A negative timeout is due at once. */
function timeoutOf(timeout: number): number | undefined {
  if (Number.isNaN(timeout) || timeout === 0 || timeout > LAST_TIME_MS) return undefined;
  return Math.max(0, timeout);
}

function nonNegative(value: number | undefined, fallback: number): number {
  return value === undefined || Number.isNaN(value) || value < 0 ? fallback : value;
}
