import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createClient, type ClientSocket } from "../../src/client/index.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A server that never answers. */
class SilentSocket extends EventTarget {
  binaryType = "arraybuffer";
  readyState = 0;
  send(): void {}
  close(): void {}
}

test.each([3_000_000_000, Number.MAX_SAFE_INTEGER])(
  "a callTimeout of %d ms, longer than a timer of the platform, does not fire at once",
  async (callTimeout) => {
    const client = createClient<any>({
      endpoint: "http://server.test",
      webSocket: SilentSocket as unknown as new () => ClientSocket,
    });
    const connection = client.counter.getOrCreate("a").connect(undefined, { callTimeout });
    let outcome: unknown = "waits";
    connection.add(1).catch((error: { code: string }) => (outcome = error.code));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(outcome).toBe("waits");
    await connection.dispose();
    expect(outcome).toBe("connection_disposed");
  },
);

test("an endpoint may be a URL", () => {
  const client = createClient<any>(new URL("https://api.example/base/"));
  expect(client.counter.getOrCreate("a")).toBeDefined();
  expect(() => createClient(new URL("ftp://api.example"))).toThrow("http://");
  expect(() => createClient({ endpoint: new URL("https://api.example/?x") })).toThrow("a query");
});
