import { expect, test } from "vitest";
import { createRouter } from "../../src/router/index.js";
import { FakeObjects } from "./fake-objects.js";
import { postAction, routerOver, type Send } from "./post-action.js";

function at(host: string, objects: FakeObjects, hosts?: readonly string[]): Send {
  const router = createRouter({ actorNames: ["counter"], ...(hosts && { hosts }) });
  return async (path, init) =>
    (await router(new Request(`http://${host}${path}`, init), objects)) ?? new Response(null, { status: 599 });
}

test.each([
  ["rebound.example:8787", ["loopback"], 403],
  ["localhost.evil.example", ["loopback"], 403],
  ["localhost:8787", ["loopback"], 200],
  ["127.0.0.1:8787", ["loopback"], 200],
  ["[::1]:8787", ["loopback"], 200],
  ["app.localhost:8787", ["loopback"], 200],
  ["api.example", ["api.example", "loopback"], 200],
  ["API.example:81", ["api.example"], 200],
  ["localhost", ["api.example"], 403],
  ["rebound.example", undefined, 200],
])("a request for %s where %j are ours: %d", async (host, hosts, status) => {
  const objects = new FakeObjects();
  const response = await postAction(at(host, objects, hosts), "", { origin: `http://${host.toLowerCase()}` });
  expect([response.status, objects.calls.length]).toEqual([status, status === 200 ? 1 : 0]);
  if (status === 403)
    expect(await response.json()).toMatchObject({
      group: "auth",
      code: "host_not_allowed",
      metadata: { option: "hosts" },
    });
});

test.each([[[]], [["http://api.example"]], [["api.example:81"]], [["API.example"]], [[""]], ["loopback"]])(
  "hosts %j are refused where they are given",
  (hosts) => {
    expect(() => routerOver(new FakeObjects(), { hosts: hosts as never })).toThrow("createHandler(): hosts");
  },
);
