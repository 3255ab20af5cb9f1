import { ActorError } from "../../protocol/index.js";

/** Longest name of a queue, in UTF-16 units. */
const MAX_QUEUE_NAME = 1_024;

/** @throws {queue/invalid_payload} when it is not a string or too long */
export function checkQueueName(name: unknown): void {
  if (typeof name === "string" && name.length <= MAX_QUEUE_NAME) return;
  throw new ActorError(
    "queue",
    "invalid_payload",
    `A queue name must be a string of at most ${MAX_QUEUE_NAME} characters`,
  );
}

/** Longer waits are cut to this, in ms. */
const MAX_WAIT_MS = 1e15;

/**
 * Reads the timeout of a wait in ms; undefined if none was given. A negative one is a poll.
 * @throws {queue/invalid_payload} when it is not a finite number, or larger than `maxMs`
 */
export function readTimeout(timeoutMs: unknown, maxMs = Infinity): number | undefined {
  if (timeoutMs === undefined) return undefined;
  if (typeof timeoutMs !== "number" || !Number.isFinite(timeoutMs)) {
    throw new ActorError("queue", "invalid_payload", "The timeout of a wait must be a finite number of ms");
  }
  if (timeoutMs > maxMs) {
    throw new ActorError("queue", "invalid_payload", `The timeout of a wait for a reply must be at most ${maxMs} ms`, {
      metadata: { limitMs: maxMs },
    });
  }
  return Math.min(Math.max(0, timeoutMs), MAX_WAIT_MS);
}

/** @throws {queue/message_too_large} when it is larger than the limit */
export function checkMessageSize(sizeBytes: number, limitBytes: number): void {
  if (sizeBytes <= limitBytes) return;
  const message = `Queue message of ${sizeBytes} bytes is larger than the limit of ${limitBytes}`;
  throw new ActorError("queue", "message_too_large", message, { metadata: { sizeBytes, limitBytes } });
}
