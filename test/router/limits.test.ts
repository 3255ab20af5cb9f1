import { describe, expect, test } from "vitest";
import { decodeValue, encodeTaggedCbor, formatBase64 } from "../../src/protocol/index.js";
import { FakeObjects, succeed } from "./fake-objects.js";
import { postAction, routerOver } from "./post-action.js";

const URL_PATH = "/gateway/counter/action/add?rvt-namespace=default&rvt-method=get";

/** A body of this many bytes: `{"args":["xxx…"]}`. */
function bodyOf(bytes: number): string {
  return `{"args":["${"x".repeat(bytes - 13)}"]}`;
}

/** The same in chunks without an announced length, and whether the reader gave up on it. */
function chunked(
  text: string,
  chunkBytes: number,
): { body: ReadableStream<Uint8Array>; seen: { pulled: number; cancelled: boolean } } {
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
    expect(await refused.json()).toMatchObject({
      group: "message",
      code: "incoming_too_long",
      metadata: { limitBytes: 65_536 },
    });
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

  test("is counted while it arrives, whatever length it announces; a little of the rest is read, so the sender is answered", async () => {
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

describe("the answer to a call", () => {
  /** `{"output":"xxx…"}` of this many bytes. */
  const outputOf = (bytes: number): string => "x".repeat(bytes - 13);
  const answered = (output: string, options = {}): Promise<Response> =>
    postAction(routerOver(new FakeObjects(() => succeed(output)), options), "");

  test("may have 1 MiB, and not one byte more (F23)", async () => {
    const response = await answered(outputOf(1_048_576));
    expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, 1_048_576]);
    const refused = await answered(outputOf(1_048_577));
    expect([refused.status, await refused.json()]).toMatchObject([
      413,
      { group: "message", code: "outgoing_too_long", metadata: { limitBytes: 1_048_576 } },
    ]);
  });

  test("is as long as the registry says, and counted in bytes", async () => {
    expect((await answered("ééé", { maxOutgoingMessageSize: 20 })).status).toBe(200);
    expect((await answered("éééé", { maxOutgoingMessageSize: 20 })).status).toBe(413);
  });
});

describe("the input of a new actor", () => {
  const LIMIT = 4 * 1024 * 1024;
  const TOO_LARGE = [413, { group: "actor", code: "input_too_large" }];
  const put = (objects: FakeObjects, input: string, method = "PUT"): Promise<Response> =>
    routerOver(objects)("/actors?namespace=default", { method, body: JSON.stringify({ name: "counter", input }) });
  /** A text whose CBOR has this many bytes. */
  const textOf = (bytes: number): string => "x".repeat(bytes - 5);
  const sent = (value: unknown): string => formatBase64(encodeTaggedCbor(value));

  test.each(["PUT", "POST"])(
    "of a %s may have 4 MiB, which is more than a stored value, and not one byte more",
    async (method) => {
      const objects = new FakeObjects();
      const bytes = encodeTaggedCbor(textOf(LIMIT));
      expect(bytes).toHaveLength(LIMIT);
      expect((await put(objects, formatBase64(bytes), method)).status).toBe(200);
      const { creation } = objects.last.envelope;
      expect(creation.mode !== "get" && decodeValue(creation.input ?? new Uint8Array())).toBe(textOf(LIMIT));
      const response = await put(objects, sent([textOf(LIMIT)]), method);
      expect([response.status, await response.json()]).toMatchObject(TOO_LARGE);
      const named = await put(objects, sent({ small: 1, list: textOf(LIMIT) }), method);
      expect(await named.json()).toMatchObject({
        metadata: { path: "$.list", limitBytes: LIMIT, sizeBytes: expect.any(Number) },
      });
      expect(objects.calls).toHaveLength(1);
    },
  );

  test("is refused before it is parsed if the body could not hold one", async () => {
    const response = await put(new FakeObjects(), "A".repeat(6 * 1024 * 1024));
    expect([response.status, await response.json()]).toMatchObject([
      413,
      { code: "input_too_large", metadata: { limitBytes: 6 * 1024 * 1024 } },
    ]);
  });

  test("may stand in a URL, which is another way to the same limit", async () => {
    const objects = new FakeObjects();
    const url = (bytes: number): string => `${URL_PATH}OrCreate&rvt-input=${encodeURIComponent(sent(textOf(bytes)))}`;
    expect((await routerOver(objects)(url(3_000_000), { method: "POST" })).status).toBe(200);
    const response = await routerOver(objects)(url(LIMIT + 1), { method: "POST" });
    expect([response.status, await response.json()]).toMatchObject(TOO_LARGE);
  });
});
