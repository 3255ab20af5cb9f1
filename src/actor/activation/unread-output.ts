/** How long a client over its limit of unread bytes may go without a ping. */
const PATIENCE_MS = 10_000;

/**
 * The bytes sent to a client since it last showed that it reads. The platform buffers without a limit for a client that
 * never reads, and does not say how much (there is no `bufferedAmount`). But our client pings after each mebibyte it has
 * received, and the platform records when (CONN-6).
 */
export class UnreadOutput {
  #bytes = 0;
  #since = 0;
  #overSince: number | undefined;

  /** Counts a frame. Returns true if the client does not read and its connection must end. */
  sent(sizeBytes: number, limitBytes: number, now: number, lastPingAt: number | undefined): boolean {
    if (this.#bytes === 0) this.#since = now;
    this.#bytes += sizeBytes;
    if (this.#bytes <= limitBytes) return false;
    if (lastPingAt !== undefined && lastPingAt >= this.#since && lastPingAt >= (this.#overSince ?? 0)) {
      this.#bytes = sizeBytes;
      this.#since = now;
      this.#overSince = undefined;
      return false;
    }
    this.#overSince ??= now;
    return now - this.#overSince >= PATIENCE_MS;
  }
}
