import { ActorError, saysNotRun } from "../../protocol/index.js";
import { raceWithAbort } from "../config/abort.js";

/** What repeating needs of the world. */
export interface BackoffPorts {
  readonly sleep: (ms: number) => Promise<void>;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
}

export const REAL_BACKOFF: BackoffPorts = {
  sleep: (ms) => new Promise((resolve) => void setTimeout(resolve, ms)),
  random: () => Math.random(),
};

const MAX_TRIES = 5;
const FIRST_DELAY_MS = 25;
const MAX_DELAY_MS = 200;

/** Runs `attempt` up to five times, as long as it fails in a way that proves that the call has not run. */
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
      await raceWithAbort(ports.sleep(delayMs(tries, ports.random)), signal);
    }
  }
}

function hasNotRun(error: unknown): boolean {
  if (!ActorError.isActorError(error) || error.statusCode !== 503 || !saysNotRun(error)) return false;
  const { metadata } = error;
  return typeof metadata === "object" && metadata !== null && (metadata as { retryable?: unknown }).retryable === true;
}

/** 25, 50, 100, 200 ms, of which up to half is taken off by chance. */
function delayMs(tries: number, random: () => number): number {
  return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - 1)) * (1 - random() / 2);
}
