import { describe, expect, test } from "vitest";
import { FakeObjects, fail } from "./fake-objects.js";
import { postAction, routerOver } from "./post-action.js";

const PATH = "/gateway/counter/action/add?rvt-namespace=default&rvt-method=get";
const APP = "https://app.example";

describe("cross-origin requests", () => {
  test("are preflighted with the headers they ask for", async () => {
    const response = await routerOver(new FakeObjects())(PATH, {
      method: "OPTIONS",
      headers: { origin: APP, "access-control-request-method": "POST", "access-control-request-headers": "x-rivet-encoding,x-perdure-json" },
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

  test.each(["/gateway/nobody/action/x", "/gateway/", "/actors", "/actors/names", "/metadata", "/health", PATH])("may read the answer of %s, good or bad", async (path) => {
    const response = await routerOver(new FakeObjects(() => fail("a", "b", 500)))(path, { headers: { origin: APP } });
    expect(response.headers.get("access-control-allow-origin")).toBe(APP);
    expect(response.headers.get("access-control-allow-credentials")).toBe("true");
    expect(response.headers.get("vary")).toContain("Origin");
  });

  test("may read our headers, which are named since * means nothing with credentials", async () => {
    const response = await postAction(routerOver(new FakeObjects()), "", { origin: APP });
    expect(response.headers.get("access-control-expose-headers")).toBe("content-type, x-rivet-actor");
  });

  test("from no page get the wildcard, without credentials", async () => {
    const response = await postAction(routerOver(new FakeObjects()), "");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.has("access-control-allow-credentials")).toBe(false);
  });
});

describe("with a list of origins", () => {
  const objects = new FakeObjects();
  const send = routerOver(objects, { cors: { origins: [APP] } });

  test.each([APP, "http://localhost:6420", undefined])("a call from %s passes", async (origin) => {
    expect((await postAction(send, "", origin === undefined ? {} : { origin })).status).toBe(200);
  });

  test.each(["https://evil.example", "null", "https://app.example.evil.example"])("a call from %s runs nothing and cannot be read", async (origin) => {
    const before = objects.calls.length;
    const response = await postAction(send, "", { origin });
    expect([response.status, await response.json()]).toMatchObject([403, { group: "auth", code: "forbidden" }]);
    expect(response.headers.has("access-control-allow-origin")).toBe(false);
    expect(objects.calls).toHaveLength(before);
    const preflight = await send(PATH, { method: "OPTIONS", headers: { origin } });
    expect(preflight.status).toBe(204);
    expect([...preflight.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
  });

  test("a function may decide", async () => {
    const byFunction = routerOver(new FakeObjects(), { cors: { origins: (origin) => origin.endsWith(".example") } });
    expect((await postAction(byFunction, "", { origin: "https://a.example" })).status).toBe(200);
    expect((await postAction(byFunction, "", { origin: "https://a.test" })).status).toBe(403);
  });
});
