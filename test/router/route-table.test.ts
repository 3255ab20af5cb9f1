import { describe, expect, test } from "vitest";
import { FakeObjects, GENERATION, succeed } from "./fake-objects.js";
import { routerOver } from "./post-action.js";

const ALL = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const READ = ["GET", "HEAD"];
const ID = `${"a".repeat(64)}-${GENERATION}`;
const QUERY = "?rvt-namespace=default&rvt-method=get";

/** Every route, with the methods it takes. */
const ROUTES: [path: string, methods: string[]][] = [
  ["/gateway/counter/action/add", ["POST"]],
  ["/gateway/counter/action/", ["POST"]],
  ["/gateway/counter/queue/work", ["POST"]],
  ["/gateway/counter/request", ALL],
  ["/gateway/counter/request/a/b", ALL],
  ["/gateway/counter/connect", ALL],
  ["/gateway/counter/websocket", ALL],
  ["/gateway/counter/websocket/a/b", ALL],
  ["/gateway/counter/metrics", ALL],
  ["/request", ALL],
  ["/request/a/b", ALL],
  ["/actors", [...READ, "PUT", "POST"]],
  ["/actors/", [...READ, "PUT", "POST"]],
  ["/actors/names", READ],
  [`/actors/${ID}`, ["DELETE"]],
  [`/actors/${ID}/sleep`, ["POST"]],
  ["/metadata", READ],
  ["/health", READ],
];

/** Paths that look like a route, and are none. */
const NONE = [
  "/gateway",
  "/gateway/",
  "/gateway/counter",
  "/gateway/counter/action",
  "/gateway/counter/action/add/",
  "/gateway/counter/action/add/more",
  "/gateway/counter/actions/add",
  "/gateway/counter/queue",
  "/gateway/counter/queue/a/b",
  "/gateway/counter/requests",
  "/gateway/counter/connected",
  "/gateway/counter/inspector",
  "/gateway/counter/inspector/state",
  "/actors/names/",
  `/actors/${ID}/`,
  `/actors/${ID}/sleep/`,
  `/actors/${ID}/more`,
  "/base/metadata",
  "/metadata/",
  "/health/",
  "/health/deep",
  "/requests",
  "/connect/a",
  "/websockets",
];

interface Answer {
  readonly status: number;
  readonly code: string | undefined;
  readonly allow: string | null;
}

async function ask(method: string, path: string, basePath: string): Promise<Answer> {
  const send = routerOver(new FakeObjects(() => succeed(1)), { basePath, token: "hush" });
  const init = { method, headers: { authorization: "Bearer hush", "x-rivet-target": "actor" } };
  const response = await send(basePath + path + QUERY, init);
  const text = await response.text();
  const { group, code } = (text.startsWith("{") ? JSON.parse(text) : {}) as { group?: string; code?: string };
  return {
    status: response.status,
    code: group === undefined ? undefined : `${group}/${code}`,
    allow: response.headers.get("allow"),
  };
}

describe.each(["", "/base"])("below %j", (basePath) => {
  test.each(ROUTES)("%s takes %j, and tells other methods so", async (path, methods) => {
    for (const method of ALL) {
      const { status, code, allow } = await ask(method, path, basePath);
      if (methods.includes(method)) expect([method, code]).not.toEqual([method, "guard/no_route"]);
      else expect([method, status, code, allow]).toEqual([method, 405, "actor/method_not_allowed", methods.join(", ")]);
      if (methods.includes(method)) expect(status).not.toBe(405);
    }
  });
});

test.each(NONE)("%s is no route, whatever the method", async (path) => {
  for (const method of ALL.filter((name) => name !== "HEAD"))
    expect([method, (await ask(method, path, "/base")).code]).toEqual([method, "guard/no_route"]);
});
