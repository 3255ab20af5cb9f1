/** So long a client that pings may be silent after more was sent than a connection may hold unread. */
const PATIENCE_MS = 10_000;

/**
 * How much was sent to a client since it last showed that it reads. The platform tells nobody how much waits in a socket's
 * buffer, which grows without a bound for a client that never reads; but our client pings after each mebibyte that it has
 * received, and the platform remembers when.
 */
export class UnreadOutput {
  #bytes = 0;
  #since = 0;
  #overSince: number | undefined;

  /** Takes note of a frame. True: the client does not read, and its connection must end. */
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
