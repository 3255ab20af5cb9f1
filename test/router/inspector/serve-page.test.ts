import { describe, expect, it } from "vitest";
import { createRouter, inspectorRoutes } from "../../../src/router/index.js";
import { PAGE_DOCUMENT, PAGE_POLICY } from "../../../src/router/internal.js";
import { FakeObjects } from "../fake-objects.js";

const objects = new FakeObjects();

function ask(path: string, init: RequestInit = {}): Promise<Response | undefined> {
  const part = inspectorRoutes({ token: "hush" });
  const router = createRouter({ actorNames: [], part, basePath: "/api", newErrorId: () => "error-1" });
  return router(new Request(`https://shop.example/api/inspector${path}`, init), objects, {});
}

describe("the inspector's page", () => {
  it("is served to anybody, with the policy under which only its own script runs", async () => {
    const response = await ask("/");
    expect(response?.status).toBe(200);
    expect(await response?.text()).toBe(PAGE_DOCUMENT);
    expect(response?.headers.get("content-security-policy")).toBe(PAGE_POLICY);
    expect(response?.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response?.headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("lies in a folder of its own, from which its paths go on", async () => {
    const response = await ask("");
    expect([response?.status, response?.headers.get("location")]).toEqual([308, "/api/inspector/"]);
  });

  it("is opened by a link on any page, since it shows nothing by itself", async () => {
    const headers = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
    expect((await ask("/", { headers }))?.status).toBe(200);
    expect((await ask("/api/me", { headers }))?.status).toBe(403);
  });

  it("is read, and nothing else", async () => {
    expect((await ask("/", { method: "POST" }))?.status).toBe(405);
    expect((await ask("/anything"))?.status).toBe(401);
    expect(objects.calls).toEqual([]);
  });
});
