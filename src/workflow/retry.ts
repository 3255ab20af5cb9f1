import {
  DEFAULT_MAX_RETRIES,
  DEFAULT_RETRY_BACKOFF_BASE_MS,
  DEFAULT_RETRY_BACKOFF_MAX_MS,
  DEFAULT_STEP_TIMEOUT_MS,
} from "./limits.js";
import { readProperty } from "./history/stored-error.js";

/** What a step may say about its attempts. All durations in ms. */
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
  /** 0: no limit. */
  readonly timeoutMs: number;
  readonly retryOnTimeout: boolean;
}

export function retryPolicy(config: RetryConfig): RetryPolicy {
  const timeout = config.timeout ?? DEFAULT_STEP_TIMEOUT_MS;
  return {
    maxRetries: nonNegative(config.maxRetries, DEFAULT_MAX_RETRIES),
    backoffBaseMs: nonNegative(config.retryBackoffBase, DEFAULT_RETRY_BACKOFF_BASE_MS),
    backoffMaxMs: nonNegative(config.retryBackoffMax, DEFAULT_RETRY_BACKOFF_MAX_MS),
    timeoutMs: Number.isFinite(timeout) && timeout > 0 ? timeout : 0,
    retryOnTimeout: config.retryOnTimeout ?? false,
  };
}

/** More would leave what a number can hold, and 0 · ∞ is no delay. */
const MAX_DOUBLINGS = 50;

/** Delay after the n-th failure: `min(max, base · 2^n)`; a thrown `retryAfter` (ms) wins (decision 7). */
export function retryDelayMs(policy: RetryPolicy, failures: number, thrown: unknown): number {
  const asked = readProperty(thrown, "retryAfter");
  if (typeof asked === "number" && Number.isFinite(asked) && asked >= 0) return asked;
  return Math.min(policy.backoffMaxMs, policy.backoffBaseMs * 2 ** Math.min(failures, MAX_DOUBLINGS));
}

function nonNegative(value: number | undefined, fallback: number): number {
  return value === undefined || Number.isNaN(value) || value < 0 ? fallback : value;
}
