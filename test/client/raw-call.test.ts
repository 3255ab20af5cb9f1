import { describe, expect, test } from "vitest";
import { parseJsonKey } from "../../src/protocol/index.js";
import { clientOf } from "./fake-fetch.js";

const URL_OF_ACTOR = "http://localhost:6420/gateway/web/request";

/** What a handle's fetch asks of `fetch`, as JSON-like parts. */
async function sentBy(...args: unknown[]) {
  const { client, sent } = clientOf(() => new Response("answer"), {
    token: "hush",
    headers: { "x-tenant": "one", "x-both": "config" },
  });
  const response: Response = await client.web.getOrCreate(["a", "b"], { params: { user: "é" } }).fetch(...args);
  expect(await response.text()).toBe("answer");
  const [{ url, init }] = sent as [(typeof sent)[0]];
  return { url, init, headers: Object.fromEntries(new Headers(init.headers)) };
}

describe("fetch of a handle", () => {
  test.each<[input: string, path: string]>([
    ["/p", "/p"],
    ["p", "/p"],
    ["", "/"],
    ["//p", "/p"],
    ["/p?x=1&y=%20?z", "/p"],
    ["?x=1", "/"],
    ["/a%2Fb/é#fragment", "/a%2Fb/%C3%A9"],
    ["../../../actors", "/actors"],
    ["https://example.test/p?x=1", "/p"],
  ])("of %j asks for …/request%s of the actor (F29)", async (input, path) => {
    const { url } = await sentBy(input);
    expect(url.origin + url.pathname).toBe(URL_OF_ACTOR + path);
    const query = /\?([^#]*)/.exec(input)?.[1] ?? "";
    expect(url.search.startsWith(query === "" ? "?rvt-" : `?${query}&rvt-`)).toBe(true);
    expect([url.searchParams.get("rvt-method"), parseJsonKey(url.searchParams.get("rvt-key-json") ?? "")]).toEqual([
      "getOrCreate",
      ["a", "b"],
    ]);
    expect(url.href).not.toContain("hush");
  });

  test("sends what it is given, with the client's headers and its own", async () => {
    const { init, headers } = await sentBy("/p", {
      method: "PUT",
      body: "text",
      headers: { "x-mine": "yes", "x-both": "mine", "x-rivet-token": "forged" },
      redirect: "manual",
    });
    expect(init).toMatchObject({ method: "PUT", body: "text", redirect: "manual" });
    expect(headers).toEqual({
      "x-tenant": "one",
      "x-both": "mine",
      "x-mine": "yes",
      "x-rivet-token": "hush",
      "x-rivet-conn-params": '{"user":"\\u00e9"}',
      "x-perdure-json": "1",
    });
  });

  test("takes path, query and all the rest of a Request, of which `init` may say otherwise", async () => {
    const request = new Request("https://example.test/p?x=1", {
      method: "POST",
      body: "text",
      headers: { "x-mine": "request", "x-other": "request" },
      redirect: "manual",
    });
    const { url, init, headers } = await sentBy(request, { headers: { "x-mine": "init" } });
    expect([url.pathname, url.searchParams.get("x")]).toEqual(["/gateway/web/request/p", "1"]);
    expect(init).toMatchObject({ method: "POST", redirect: "manual", duplex: "half" });
    expect(headers).toMatchObject({
      "x-mine": "init",
      "x-other": "request",
      "content-type": "text/plain;charset=UTF-8",
    });
    expect(await new Response(init.body).text()).toBe("text");
    expect((await sentBy(new Request("https://example.test/p"), { method: "DELETE" })).init.method).toBe("DELETE");
    // As `init`, a Request means the same.
    const asInit = await sentBy(
      "p",
      new Request("https://example.test/ignored", { method: "POST", body: "text", headers: { "x-mine": "1" } }),
    );
    expect([
      asInit.init.method,
      new Headers(asInit.init.headers).get("x-mine"),
      await new Response(asInit.init.body).text(),
    ]).toEqual(["POST", "1", "text"]);
  });

  test("streams a body", async () => {
    const { init } = await sentBy(new URL("https://example.test/p"), {
      method: "POST",
      body: new Response("streamed").body,
    });
    expect(init).toMatchObject({ duplex: "half" });
    expect(await new Response(init.body).text()).toBe("streamed");
  });

  test("by an id has no query but its own", async () => {
    const { client, sent } = clientOf(() => new Response());
    const id = `${"a".repeat(64)}-${"0".repeat(16)}`;
    await client.web.getForId(id).fetch("/p?x=1");
    expect(sent[0]?.url.href).toBe(`http://localhost:6420/gateway/${id}/request/p?x=1`);
  });

  test("gives every answer back, also an error, and asks once", async () => {
    for (const status of [404, 500, 503]) {
      const { client, sent } = clientOf(() =>
        Response.json({ group: "actor", code: "starting", message: "soon", metadata: { retryable: true } }, { status }),
      );
      const response: Response = await client.web.get("a").fetch("/");
      expect([response.status, (await response.json()).code, sent.length]).toEqual([status, "starting", 1]);
    }
  });

  test("rejects if no answer comes, with the signal's reason if that is why", async () => {
    const { client } = clientOf(() => Promise.reject(new TypeError("fetch failed")));
    await expect(client.web.get("a").fetch("/")).rejects.toMatchObject({ group: "client", code: "network_error" });
    const hanging = clientOf(
      ({ init }) =>
        new Promise((_resolve, reject) =>
          init.signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))),
        ),
    );
    const [ofCall, ofHandle] = [new AbortController(), new AbortController()];
    const handle = hanging.client.web.get("a", { signal: ofHandle.signal });
    const calls = [handle.fetch("/", { signal: ofCall.signal }), handle.fetch("/")].map((call) =>
      call.catch((error: unknown) => error),
    );
    ofCall.abort("the call");
    ofHandle.abort("the handle");
    expect(await Promise.all(calls)).toEqual(["the call", "the handle"]);
  });

  test.each([[undefined], [null], [5], [{ url: "/p" }]])(
    "of %j says what it takes, and asks nothing",
    async (input) => {
      const { client, sent } = clientOf();
      await expect(client.web.get("a").fetch(input)).rejects.toMatchObject({ group: "request", code: "invalid" });
      expect(sent).toEqual([]);
    },
  );
});
