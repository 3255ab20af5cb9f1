import { ActorError, saysNotRun, backoffMs } from "../../protocol/page.js";
import { raceWithAbort } from "../config/abort.js";

/** The time and randomness that retries need. */
export interface BackoffPorts {
  readonly sleep: (ms: number) => Promise<void>;
  /** At least 0 and below 1. */
  readonly random: () => number;
}

export const REAL_BACKOFF: BackoffPorts = {
  sleep: (ms) => new Promise((resolve) => void setTimeout(resolve, ms)),
  random: () => Math.random(),
};

const MAX_TRIES = 5;
/** 25, 50, 100, 200 ms, minus up to half of it as jitter. */
const BACKOFF = { firstMs: 25, maxMs: 200 };

/** Runs `attempt` up to five times, as long as its error proves that the call has not run. */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  ports: BackoffPorts,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    signal?.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (tries >= MAX_TRIES || !hasNotRun(error)) throw error;
      await raceWithAbort(ports.sleep(backoffMs(tries, BACKOFF, ports.random())), signal);
    }
  }
}

function hasNotRun(error: unknown): boolean {
  if (!ActorError.isActorError(error) || error.statusCode !== 503 || !saysNotRun(error)) return false;
  const { metadata } = error;
  return typeof metadata === "object" && metadata !== null && (metadata as { retryable?: unknown }).retryable === true;
}
