import { describe, expect, test } from "vitest";
import { createRouter, type RouterOptions } from "../../src/router/index.js";
import { FakeObjects, fail } from "./fake-objects.js";
import { postAction, routerOver, type Send } from "./post-action.js";

const PATH = "/gateway/counter/action/add?rvt-namespace=default&rvt-method=get";
const APP = "https://app.example";
const OPEN: Partial<RouterOptions> = { cors: { origins: [APP] } };

/** A router that is reached by this origin. */
function reachedAt(server: string, objects: FakeObjects, options: Partial<RouterOptions> = {}): Send {
  const router = createRouter({ actorNames: ["counter"], ...options });
  return async (path, init) => {
    const response = await router(new Request(server + path, init), objects);
    if (response === undefined) throw new Error("not ours");
    return response;
  };
}

describe("cross-origin requests of a listed origin", () => {
  test("are preflighted with the headers they ask for", async () => {
    const response = await routerOver(new FakeObjects(), OPEN)(PATH, {
      method: "OPTIONS",
      headers: {
        origin: APP,
        "access-control-request-method": "POST",
        "access-control-request-headers": "x-rivet-encoding,x-perdure-json",
      },
    });
    expect([response.status, await response.text()]).toEqual([204, ""]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "access-control-allow-origin": APP,
      "access-control-allow-credentials": "true",
      "access-control-allow-methods": "GET, POST, PUT, DELETE, OPTIONS, PATCH",
      "access-control-allow-headers": "x-rivet-encoding,x-perdure-json",
      "access-control-max-age": "86400",
      vary: "Origin, Access-Control-Request-Headers",
    });
  });

  test.each(["/gateway/nobody/action/x", "/gateway/", "/actors", "/actors/names", "/metadata", "/health", PATH])(
    "may read the answer of %s, good or bad",
    async (path) => {
      const response = await routerOver(new FakeObjects(() => fail("a", "b", 500)), OPEN)(path, {
        headers: { origin: APP },
      });
      expect(response.headers.get("access-control-allow-origin")).toBe(APP);
      expect(response.headers.get("access-control-allow-credentials")).toBe("true");
      expect(response.headers.get("vary")).toContain("Origin");
    },
  );

  test("may read our headers, which are named since * means nothing with credentials", async () => {
    const response = await postAction(routerOver(new FakeObjects(), OPEN), "", { origin: APP });
    expect(response.headers.get("access-control-expose-headers")).toBe("content-type, x-rivet-actor");
  });

  test("keep the cookies that they bring, for the application's own check", async () => {
    const objects = new FakeObjects();
    await postAction(routerOver(objects, OPEN), "", { origin: APP, cookie: "session=1", authorization: "Basic eDp5" });
    expect(Object.fromEntries(objects.last.envelope.request?.headers ?? [])).toMatchObject({
      cookie: "session=1",
      authorization: "Basic eDp5",
    });
  });
});

test("requests of no page pass, and need no headers of ours", async () => {
  const response = await postAction(routerOver(new FakeObjects()), "");
  expect(response.status).toBe(200);
  expect(response.headers.has("access-control-allow-origin")).toBe(false);
});

/** Server, origin of the page, whether it may call by itself. */
const PAIRS: readonly [server: string, page: string, allowed: boolean][] = [
  ["https://api.example", "https://api.example", true],
  ["https://api.example", "http://api.example", false],
  ["https://api.example", "https://api.example:8443", false],
  ["https://api.example", "https://app.example", false],
  ["https://api.example", "https://api.example.evil.test", false],
  ["https://api.example", "null", false],
  ["https://api.example", "capacitor://localhost", false],
  ["https://api.example", "http://localhost:5173", false],
  // A tunnel ends TLS before the server.
  ["http://abc.tunnel.example", "https://abc.tunnel.example", true],
  ["http://abc.tunnel.example", "https://abd.tunnel.example", false],
  ["http://localhost:8787", "http://localhost:5173", true],
  ["http://127.0.0.1:8787", "http://localhost:5173", true],
  ["http://[::1]:8787", "https://app.localhost:5173", true],
  ["http://app.localhost:8787", "http://127.8.9.1", true],
  ["http://localhost:8787", "https://evil.example", false],
  ["http://localhost:8787", "http://localhost.evil.example", false],
  ["http://localhost:8787", "http://127.0.0.1.evil.example", false],
  ["http://localhost:8787", "http://notlocalhost", false],
  ["http://localhost:8787", "null", false],
  ["http://localhost:8787", "http://192.168.1.7:5173", false],
  ["http://localhost:8787", "http://localhost:5173/", false],
  ["http://localhost:8787", "http://x@localhost:5173", false],
  ["http://192.168.1.7:8787", "http://192.168.1.7:5173", true],
  ["http://192.168.1.7:8787", "http://192.168.1.8:5173", false],
  ["http://192.168.1.7:8787", "http://localhost:5173", false],
  ["http://10.1.2.3:8787", "http://10.1.2.3", true],
  ["http://172.31.0.1:8787", "http://172.31.0.1:80", false],
  ["http://172.31.0.1:8787", "http://172.31.0.1", true],
  ["http://172.32.0.1:8787", "http://172.32.0.1", false],
  ["http://[fd00::1]:8787", "http://[fd00::1]:5173", true],
  ["http://[fe80::1]:8787", "http://[fe80::1]:5173", true],
  ["http://[2001:db8::1]:8787", "http://[2001:db8::1]:5173", false],
  ["http://8.8.8.8:8787", "http://8.8.8.8:5173", false],
  ["http://app.example:8787", "http://app.example:5173", false],
];

describe("by itself", () => {
  test.each(PAIRS)("a server at %s is asked by a page of %s: %s", async (server, origin, allowed) => {
    const objects = new FakeObjects();
    const response = await postAction(reachedAt(server, objects), "", { origin });
    expect([response.status, objects.calls.length]).toEqual(allowed ? [200, 1] : [403, 0]);
    expect(response.headers.get("access-control-allow-credentials")).toBe(allowed ? "true" : null);
  });

  test.each(["json", "cbor", "bare"])(
    "a refusal runs nothing, and the page may read which option opens the server (%s)",
    async (encoding) => {
      const objects = new FakeObjects();
      const send = routerOver(objects);
      const response = await postAction(send, "", { origin: "https://evil.example", "x-rivet-encoding": encoding });
      expect([response.status, await response.json()]).toMatchObject([
        403,
        {
          group: "auth",
          code: "origin_not_allowed",
          message: expect.stringContaining('cors: { origins: ["https://evil.example"] }'),
          metadata: { origin: "https://evil.example", option: "cors.origins" },
        },
      ]);
      expect(response.headers.get("access-control-allow-origin")).toBe("https://evil.example");
      expect(response.headers.has("access-control-allow-credentials")).toBe(false);
      const preflight = await send(PATH, {
        method: "OPTIONS",
        headers: { origin: "https://evil.example", "access-control-request-headers": "x-rivet-encoding" },
      });
      expect(Object.fromEntries(preflight.headers)).toMatchObject({
        "access-control-allow-origin": "https://evil.example",
        "access-control-allow-headers": "x-rivet-encoding",
        "access-control-max-age": "0",
      });
      expect(preflight.headers.has("access-control-allow-credentials")).toBe(false);
      expect(objects.calls).toHaveLength(0);
    },
  );

  test.each([
    ["GET", "/gateway/counter/request/x?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=a"],
    ["POST", "/gateway/counter/request/x?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=a"],
    ["POST", PATH],
    ["POST", "/gateway/counter/queue/q?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=a"],
    ["PUT", "/actors"],
    ["POST", "/actors"],
    ["GET", "/actors?name=counter&key=a"],
    ["GET", "/metadata"],
  ])("a simple %s of %s, which no browser asks leave for, does nothing", async (method, path) => {
    const objects = new FakeObjects();
    const body = method === "GET" ? {} : { body: JSON.stringify({ name: "counter", key: "a", args: [] }) };
    const response = await routerOver(objects)(path, {
      method,
      ...body,
      headers: { origin: "https://evil.example", "content-type": "text/plain" },
    });
    expect([response.status, objects.calls.length]).toEqual([403, 0]);
  });

  test.each([
    [{ "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" }, 403],
    [{ "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", referer: "https://evil.example/page" }, 403],
    [
      {
        "sec-fetch-site": "cross-site",
        "sec-fetch-mode": "navigate",
        "sec-fetch-dest": "iframe",
        referer: "https://evil.example/",
      },
      403,
    ],
    [{ "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", referer: "no URL" }, 403],
    [{ "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", referer: `${APP}/page` }, 200],
    [{ "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors", referer: "http://localhost:5173/" }, 200],
    [{ "sec-fetch-site": "same-origin", "sec-fetch-mode": "no-cors" }, 200],
    [{ "sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }, 200],
    [{ "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }, 200],
  ])("what a page embeds has no Origin, and counts as that page's: %j", async (headers, status) => {
    const response = await routerOver(new FakeObjects(), OPEN)("/health", { headers });
    expect(response.status).toBe(status);
  });
});

describe('with "*"', () => {
  test("a page of any origin calls as nobody: cookies, Basic authorization and an access gateway's identity are gone", async () => {
    const objects = new FakeObjects();
    const asked: Headers[] = [];
    const send = routerOver(objects, {
      cors: { origins: "*" },
      authorize: (request) => void asked.push(request.headers),
    });
    const ambient = {
      cookie: "session=1",
      authorization: "Basic eDp5",
      "cf-access-jwt-assertion": "x",
      "cf-access-authenticated-user-email": "a@b.example",
    };
    for (const origin of ["https://evil.example", "null"]) {
      const response = await postAction(send, '{"args":[1]}', { origin, ...ambient, "x-mine": "1" });
      expect([response.status, await response.json()]).toEqual([200, { output: [1] }]);
      expect(response.headers.get("access-control-allow-origin")).toBe(origin);
      expect(response.headers.get("access-control-allow-credentials")).toBe("true");
      expect([...(asked.at(-1)?.keys() ?? [])]).toEqual(["content-type", "origin", "x-mine"]);
      expect(objects.last.envelope.request?.headers.map(([name]) => name)).toEqual([
        "content-type",
        "origin",
        "x-mine",
      ]);
    }
  });

  test("what the page's own code sends stays, and so does all of a page of our own and of no page", async () => {
    const objects = new FakeObjects();
    const send = routerOver(objects, { cors: { origins: "*" } });
    const headerOf = (name: string): string | undefined => new Map(objects.last.envelope.request?.headers).get(name);
    await postAction(send, "", { origin: "https://evil.example", authorization: "Bearer t" });
    expect(headerOf("authorization")).toBe("Bearer t");
    for (const page of [{}, { origin: "http://localhost:6420" }]) {
      await postAction(send, "", { ...page, cookie: "session=1", authorization: "Basic eDp5" });
      expect([headerOf("cookie"), headerOf("authorization")]).toEqual(["session=1", "Basic eDp5"]);
    }
  });
});

describe("the option", () => {
  test.each([APP, "http://localhost:6420", undefined])("a list lets a call from %s pass", async (origin) => {
    expect(
      (await postAction(routerOver(new FakeObjects(), OPEN), "", origin === undefined ? {} : { origin })).status,
    ).toBe(200);
  });

  test.each(["null", "capacitor://localhost", "https://app.example:8443", "http://app.example"])(
    "a list names %s, or refuses it",
    async (origin) => {
      expect((await postAction(routerOver(new FakeObjects(), OPEN), "", { origin })).status).toBe(403);
      expect(
        (await postAction(routerOver(new FakeObjects(), { cors: { origins: [origin] } }), "", { origin })).status,
      ).toBe(200);
    },
  );

  test("may be a function; a promise is no answer, and neither is a throw", async () => {
    const log: unknown[] = [];
    const sent = async (origins: (origin: string) => unknown, origin: string): Promise<number> => {
      const options = {
        cors: { origins: origins as (origin: string) => boolean },
        log: { warn: (entry: unknown) => void log.push(entry), error: () => {} },
      };
      return (await postAction(routerOver(new FakeObjects(), options), "", { origin })).status;
    };
    expect(await sent((origin) => origin.endsWith(".example"), "https://a.example")).toBe(200);
    expect(await sent((origin) => origin.endsWith(".example"), "https://a.test")).toBe(403);
    expect(await sent(async () => true, "https://a.example")).toBe(403);
    log.length = 0;
    const thrown = new Error("of the user");
    expect(
      await sent(() => {
        throw thrown;
      }, "https://a.example"),
    ).toBe(403);
    expect(log[0]).toMatchObject({ origin: "https://a.example", error: thrown });
  });

  test.each([
    [{ origins: ["https://app.example/"] }, "no browser sends"],
    [{ origins: ["app.example"] }, "no browser sends"],
    [{ origins: ["https://app.example:443"] }, "no browser sends"],
    [{ origins: ["HTTPS://app.example"] }, "no browser sends"],
    [{ origins: ["https://*.app.example"] }, "a pattern is a function"],
    [{ origins: ["*"] }, "a pattern is a function"],
    [{ origins: [5] }, "no browser sends"],
    [{ origins: "https://app.example" }, 'must be "*", an array'],
    [{ origin: "*" }, 'unknown key "origin"'],
    [null, "must be an object"],
  ])("%j is refused where it is given", (cors, message) => {
    expect(() => routerOver(new FakeObjects(), { cors: cors as never })).toThrow(message);
  });
});

test("each origin refused is logged once, and a stranger fills no log", async () => {
  const log: Record<string, unknown>[] = [];
  const send = routerOver(new FakeObjects(), { log: { warn: (entry) => void log.push(entry), error: () => {} } });
  for (let i = 0; i < 3; i++) await postAction(send, "", { origin: "https://evil.example" });
  expect(log).toMatchObject([
    {
      msg: expect.stringContaining("cors: { origins"),
      origin: "https://evil.example",
      server: "http://localhost:6420",
    },
  ]);
  for (let i = 0; i < 300; i++) await postAction(send, "", { origin: `https://${i}.${"x".repeat(1000)}.example` });
  expect(log.length).toBe(100);
  expect(Math.max(...log.map((entry) => JSON.stringify(entry).length))).toBeLessThan(600);
});
