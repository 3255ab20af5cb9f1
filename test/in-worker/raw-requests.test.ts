import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { createHandler } from "../../src/entry/cloudflare.js";
import { actor, setup, UserError } from "../../src/entry/index.js";
import { decodeValue, objectName } from "../../src/protocol/index.js";
import { serve } from "../support/worker.js";

// Raw requests on the real runtime: over HTTP, over the binding, and from another actor.

interface Stream {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  readonly signal: AbortSignal;
}
/** What the handlers did, and the bodies that they have open. */
const seen: string[] = [];
const streams = new Map<string, Stream>();
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const web = actor({
  state: { count: 0 },
  onConnect: (c) => void seen.push(`connect ${JSON.stringify(c.conn.params)}`),
  onDisconnect: (_c, _conn, { code }) => void seen.push(`disconnect ${code}`),
  onRequest: async (c, request) => {
    const { pathname, search } = new URL(request.url);
    switch (pathname) {
      case "/count":
        return Response.json({
          count: (c.state.count += 1),
          search,
          method: request.method,
          body: await request.text(),
          mine: request.headers.get("x-mine"),
          ours: [...request.headers.keys()].filter((name) => /^x-(rivet|perdure)/.test(name)),
        });
      case "/echo":
        return new Response(request.body);
      case "/sized":
        return new Response("hello", { headers: { "content-length": "5" } });
      case "/fixed": {
        const { readable, writable } = new FixedLengthStream(5);
        const writer = writable.getWriter();
        // A HEAD cancels what it does not send.
        writer
          .write(bytesOf("hello"))
          .then(() => writer.close())
          .catch(() => {});
        return new Response(readable, { headers: { "content-length": "5" } });
      }
      case "/short":
        return new Response("hell", { headers: { "content-length": "5" } });
      case "/refused":
        throw new UserError("Not you", {
          code: "not_you",
          metadata: { long: search.length > 1 ? "x".repeat(9000) : "" },
        });
      case "/moved":
        return new Response(null, { status: 302, headers: { location: "/count" } });
      case "/gzip":
        return new Response("hello ".repeat(1000), { headers: { "content-encoding": "gzip" } });
      case "/upgrade":
        return new Response(null, { status: 101, webSocket: new WebSocketPair()[0] });
      case "/cookies": {
        const headers = new Headers({ "set-cookie": "a=1" });
        headers.append("set-cookie", "b=2");
        return new Response("crumbs", { headers });
      }
      case "/events": {
        const key = c.key.join();
        const stream = new ReadableStream<Uint8Array>({
          start: (controller) => void streams.set(key, { controller, signal: c.abortSignal }),
          cancel: () => void seen.push(`cancelled ${c.aborted}`),
        });
        return new Response(stream, { headers: { "content-type": "text/event-stream" } });
      }
      case "/end":
        c.destroy();
        return new Response("bye");
      case "/hang":
        await new Promise((resolve) => {
          streams.set(c.key.join(), { signal: c.abortSignal } as Stream);
          c.abortSignal.addEventListener("abort", resolve);
        });
        seen.push(`hung ${(c.abortSignal.reason as { code?: string }).code}`);
        return new Response("nobody");
      default:
        throw new Error("the password is hunter2");
    }
  },
  actions: {
    /** Says something in the open body, after a change that goes with it. */
    say: (c, text: string) => {
      c.state.count += 1;
      streams.get(c.key.join())?.controller.enqueue(bytesOf(text));
    },
    end: (c) => c.destroy(),
    count: (c) => c.state.count,
  },
});
const proxy = actor({
  state: {},
  actions: {
    ask: async (c, key: string, path: string) => {
      const response = await c
        .client<typeof registry>()
        .web.getOrCreate(key, { params: "proxy" })
        .fetch(path, { method: "POST", body: "from an actor" });
      return [response.status, await response.text()] as const;
    },
  },
});
const registry = setup({ use: { web, proxy } });
serve(registry);
const { ACTORS } = env as unknown as { ACTORS: DurableObjectNamespace };
const client = createHandler(registry, { logLevel: "silent" }).client(env);
const worker = (exports as unknown as { default: { fetch(request: Request): Promise<Response> } }).default;

const ways: Record<string, (key: string, path: string, init?: RequestInit) => Promise<Response>> = {
  HTTP: (key, path, init) =>
    worker.fetch(
      new Request(
        `http://worker.test/gateway/web/request${path}${path.includes("?") ? "&" : "?"}` +
          `rvt-namespace=default&rvt-method=getOrCreate&rvt-key=${key}`,
        { redirect: "manual", ...init },
      ),
    ),
  "the binding": (key, path, init) => client.web.getOrCreate([key]).fetch(path, init),
};

async function storedCount(key: string): Promise<number> {
  return runInDurableObject(ACTORS.get(ACTORS.idFromName(objectName("web", [key]))), (_instance, { storage }) => {
    return (decodeValue(storage.kv.get<Uint8Array>("s") ?? new Uint8Array()) as { count: number }).count;
  });
}

/** Looks for what has no event to wait for. */
async function until(isSo: () => boolean): Promise<void> {
  for (let turns = 0; !isSo(); turns += 1) {
    if (turns > 2000) throw new Error(`Not within ${turns} turns; seen: ${seen.join(", ")}`);
    await scheduler.wait(1);
  }
}

async function text(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string | undefined> {
  const { value } = await reader.read();
  return value && new TextDecoder().decode(value);
}

afterEach(() => void (seen.length = 0));

describe.each(Object.keys(ways))("a raw request over %s", (way) => {
  const send = ways[way]!;
  const keyOf = (name: string): string => `${name}-${way.length}`;

  it("is served by onRequest as it was sent, and what it changes is stored", async () => {
    const key = keyOf("count");
    const response = await send(key, "/count?x=1", {
      method: "PUT",
      body: "text",
      headers: { "x-mine": "yes", "x-rivet-token": "hush" },
    });
    expect(await response.json()).toEqual({
      count: 1,
      search: "?x=1",
      method: "PUT",
      body: "text",
      mine: "yes",
      ours: [],
    });
    expect(await storedCount(key)).toBe(1);
    expect(response.headers.get("x-rivet-actor")).toMatch(/^[0-9a-f]{64}-/);
  });

  it("streams its body there and back, also a large one", async () => {
    const part = new Uint8Array(1024 * 1024).fill(7);
    let parts = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => (parts++ < 8 ? controller.enqueue(part) : controller.close()),
    });
    const response = await send(keyOf("echo"), "/echo", { method: "POST", body });
    expect((await response.arrayBuffer()).byteLength).toBe(8 * part.length);
  });

  it("keeps the length that its handler announced, for GET and HEAD alike", async () => {
    for (const path of ["/sized", "/fixed"]) {
      const got = await send(keyOf("sized"), path);
      const head = await send(keyOf("sized"), path, { method: "HEAD" });
      expect([got.status, got.headers.get("content-length"), await got.text()]).toEqual([200, "5", "hello"]);
      expect([head.status, head.headers.get("content-length"), head.body === null || (await head.text())]).toEqual([
        200,
        "5",
        head.body === null || "",
      ]);
    }
    await expect((await send(keyOf("sized"), "/short")).text()).rejects.toThrow();
  });

  it("answers a HEAD that is refused with status and headers of the GET", async () => {
    const same = ["content-type", "x-rivet-actor", "x-rivet-ray-id"];
    const seenOf = (response: Response): unknown => [
      response.status,
      ...same.slice(0, 2).map((name) => response.headers.get(name)),
      response.headers.has("x-rivet-ray-id"),
    ];
    for (const path of ["/refused", "/refused?long=1", "/unknown"]) {
      const [got, head] = [await send(keyOf("refused"), path), await send(keyOf("refused"), path, { method: "HEAD" })];
      expect(seenOf(head), path).toEqual(seenOf(got));
      expect(head.status, path).toBe(path.startsWith("/refused") ? 400 : 500);
      await got.body?.cancel();
    }
  });

  it("gives redirects, cookies and compressed bodies back as they are", async () => {
    const moved = await send(keyOf("moved"), "/moved");
    expect([moved.status, moved.headers.get("location")]).toEqual([302, "/count"]);
    const cookies = await send(keyOf("moved"), "/cookies");
    expect([cookies.headers.getSetCookie(), await cookies.text()]).toEqual([["a=1", "b=2"], "crumbs"]);
    const gzip = await send(keyOf("moved"), "/gzip");
    expect([gzip.headers.get("content-encoding"), await gzip.text()]).toEqual(["gzip", "hello ".repeat(1000)]);
  });

  it("cannot be answered with a WebSocket", async () => {
    const response = await send(keyOf("upgrade"), "/upgrade").catch((error: unknown) => error as { code: string });
    expect(
      response instanceof Response
        ? [response.status, ((await response.json()) as { code: string }).code]
        : [500, response.code],
    ).toEqual([500, "invalid_response"]);
  });

  it("whose handler throws is answered a masked error", async () => {
    const response = await send(keyOf("throws"), "/boom");
    const answer = await response.text();
    expect([response.status, JSON.parse(answer)]).toMatchObject([
      500,
      { code: "internal_error", metadata: { errorId: expect.any(String) } },
    ]);
    expect(answer).not.toContain("hunter2");
  });

  it("gets events part by part, each after the change that goes with it is stored", async () => {
    const key = keyOf("events");
    const reader = (await send(key, "/events")).body!.getReader();
    await until(() => streams.has(key));
    for (let n = 1; n <= 3; n += 1) {
      await client.web.getOrCreate([key]).say(`data: ${n}\n\n`);
      expect(await text(reader)).toBe(`data: ${n}\n\n`);
      expect(await storedCount(key)).toBe(n);
    }
    await reader.cancel();
    await until(() => seen.includes("cancelled true"));
    await until(() => seen.includes("disconnect 1006"));
    expect(await client.web.getOrCreate([key]).count(), "the actor lives on").toBe(3);
  });

  it("that is aborted fires the handler's abortSignal", async () => {
    const key = keyOf("hang");
    const controller = new AbortController();
    const answer = send(key, "/hang", { signal: controller.signal }).then(
      () => "answered",
      (error: Error) => error.message,
    );
    await until(() => streams.has(key));
    controller.abort(new Error("enough"));
    expect(await answer).toBe("enough");
    await until(() => seen.includes("hung aborted"));
  });

  it("is whole when its own handler destroys the actor", async () => {
    const key = keyOf("last");
    for (const method of ["GET", "POST"]) {
      const response = await send(key, "/end", { method });
      expect([response.status, await response.text()]).toEqual([200, "bye"]);
    }
    expect(await (await send(key, "/count", { method: "POST" })).json(), "the next life").toMatchObject({ count: 1 });
  });

  it("breaks off when the actor is destroyed while its body is open", async () => {
    const key = keyOf("doomed");
    const reader = (await send(key, "/events")).body!.getReader();
    await until(() => streams.has(key));
    await client.web.getOrCreate([key]).end();
    await expect(reader.read()).rejects.toThrow();
    expect(streams.get(key)?.signal.aborted).toBe(true);
    expect(await (await send(key, "/count", { method: "POST" })).json(), "the next life").toMatchObject({ count: 1 });
  });
});

it("from another actor leaves after what that one changed, and names it by its params", async () => {
  expect(await client.proxy.getOrCreate("p").ask("of-proxy", "/count?y=2")).toEqual([
    200,
    expect.stringContaining('"count":1'),
  ]);
  await until(() => seen.includes("disconnect 1000"));
  expect(seen).toEqual(['connect "proxy"', "disconnect 1000"]);
});

it("a large input of a new actor travels apart from the request", async () => {
  const handle = client.web.getOrCreate(["large"], { createWithInput: "x".repeat(3_000_000) as never });
  expect((await handle.fetch("/count", { method: "POST" })).status).toBe(200);
});

it("a WebSocket does not open at …/request", async () => {
  const response = await worker.fetch(
    new Request("http://worker.test/gateway/web/request/x?rvt-namespace=default&rvt-method=getOrCreate", {
      headers: { upgrade: "websocket" },
    }),
  );
  const socket = response.webSocket!;
  const closed = new Promise<CloseEvent>((resolve) => socket.addEventListener("close", resolve as never));
  socket.accept();
  expect((await closed).reason).toBe("actor.invalid_request");
});

it("a HEAD for an actor that is not there, or takes no requests, is answered 404, as GET is", async () => {
  for (const [name, method, code] of [
    ["web", "get", "actor/not_found"],
    ["proxy", "getOrCreate", "actor/no_request_handler"],
  ] as const) {
    const url = `http://worker.test/gateway/${name}/request/x?rvt-namespace=default&rvt-key=head&rvt-method=${method}`;
    const head = await worker.fetch(new Request(url, { method: "HEAD" }));
    const got = await worker.fetch(new Request(url));
    expect([head.status, head.headers.get("content-type")]).toEqual([404, "application/json"]);
    const { group, code: told } = (await got.json()) as { group: string; code: string };
    expect([got.status, `${group}/${told}`]).toEqual([404, code]);
  }
});
