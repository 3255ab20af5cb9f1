import { describe, expect, test } from "vitest";
import { FakeObjects } from "./fake-objects.js";
import { postAction, routerOver } from "./post-action.js";

const URL_PATH = "/gateway/counter/action/add?rvt-namespace=default&rvt-method=get";

/** A body of this many bytes: `{"args":["xxx…"]}`. */
function bodyOf(bytes: number): string {
  return `{"args":["${"x".repeat(bytes - 13)}"]}`;
}

/** The same in chunks without an announced length, and whether the reader gave up on it. */
function chunked(text: string, chunkBytes: number): { body: ReadableStream<Uint8Array>; seen: { pulled: number; cancelled: boolean } } {
  const bytes = new TextEncoder().encode(text);
  const seen = { pulled: 0, cancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (seen.pulled >= bytes.length) return controller.close();
        controller.enqueue(bytes.slice(seen.pulled, seen.pulled + chunkBytes));
        seen.pulled += chunkBytes;
      },
      cancel() {
        seen.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, seen };
}

describe("the body of an action call", () => {
  test("may have 65,536 bytes, and not one more", async () => {
    const objects = new FakeObjects();
    const send = routerOver(objects);
    expect((await postAction(send, bodyOf(65_536))).status).toBe(200);
    const refused = await postAction(send, bodyOf(65_537));
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({ group: "message", code: "incoming_too_long", metadata: { limitBytes: 65_536 } });
    expect(objects.calls).toHaveLength(1);
  });

  test("is counted in bytes, not in characters", async () => {
    const send = routerOver(new FakeObjects(), { maxIncomingMessageSize: 20 });
    expect((await postAction(send, '{"args":["éééé"]}')).status).toBe(413);
    expect((await postAction(send, '{"args":["ééé"]}')).status).toBe(200);
  });

  test("is refused by its announced length, without being kept", async () => {
    const { body, seen } = chunked(bodyOf(100), 10);
    const init = { method: "POST", body, duplex: "half", headers: { "content-length": "5000000" } };
    const objects = new FakeObjects();
    expect((await routerOver(objects)(URL_PATH, init)).status).toBe(413);
    expect([seen.pulled, objects.calls]).toEqual([100, []]);
  });

  test("is counted while it arrives, whatever length it announces; a little of the rest is read so that the sender gets the answer", async () => {
    for (const headers of [{}, { "content-length": "5" }, { "content-length": "8000000" }]) {
      const { body, seen } = chunked(bodyOf(8_000_000), 10_000);
      const init = { method: "POST", body, duplex: "half", headers };
      const response = await routerOver(new FakeObjects())(URL_PATH, init);
      expect(response.status).toBe(413);
      expect(seen.cancelled).toBe(true);
      expect(seen.pulled).toBeLessThan(1_200_000);
    }
  });

  test("is put together from its chunks", async () => {
    const objects = new FakeObjects();
    const { body } = chunked('{"args":["é€😀"]}', 1);
    const init = { method: "POST", body, duplex: "half" };
    expect((await routerOver(objects)(URL_PATH, init)).status).toBe(200);
    expect(objects.lastArgs).toEqual(["é€😀"]);
  });

  test("that breaks off is the caller's fault", async () => {
    const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error("gone")) });
    const init = { method: "POST", body, duplex: "half" };
    const response = await routerOver(new FakeObjects())(URL_PATH, init);
    expect([response.status, await response.json()]).toMatchObject([400, { group: "request", code: "invalid" }]);
  });

  test("is UTF-8", async () => {
    const body = new Uint8Array([0x22, 0xff, 0x22]);
    const response = await routerOver(new FakeObjects())(URL_PATH, { method: "POST", body });
    expect([response.status, await response.json()]).toMatchObject([400, { group: "encoding", code: "invalid" }]);
  });
});

test("a REST body may be as large as an input, and not larger", async () => {
  const send = routerOver(new FakeObjects());
  const put = (input: string): Promise<Response> => send("/actors?namespace=default", { method: "PUT", body: JSON.stringify({ name: "counter", input }) });
  expect((await put(btoa(`\x79\xff\xff${"x".repeat(65_535)}`))).status).toBe(200);
  const response = await put("A".repeat(6 * 1024 * 1024));
  expect([response.status, await response.json()]).toMatchObject([413, { group: "actor", code: "input_too_large" }]);
});
