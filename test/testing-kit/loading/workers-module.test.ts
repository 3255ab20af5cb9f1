import { afterEach, describe, expect, it } from "vitest";
import * as workers from "../../../src/entry/testing/cloudflare-workers.js";
import { testEnv } from "../../../src/entry/testing.js";

const { env } = workers as { env: Record<string, unknown> };

afterEach(() => testEnv({}));

describe("env of cloudflare:workers, in Node", () => {
  it("is empty until testEnv sets it, and then as that object in every way", () => {
    expect(Object.keys(env)).toEqual([]);
    const given: Record<string, unknown> = Object.freeze({ PLAN: "pro", ACTORS: {} });
    testEnv(given);
    expect([env["PLAN"], "PLAN" in env, "OTHER" in env, Object.keys(env), { ...env }]).toEqual([
      "pro",
      true,
      false,
      ["PLAN", "ACTORS"],
      given,
    ]);
    expect(env["ACTORS"]).toBe(given["ACTORS"]);
    expect(() => (env["PLAN"] = "free"), "frozen").toThrow(TypeError);
  });

  it("can be written to, as a test of the platform does", () => {
    const given: Record<string, unknown> = {};
    testEnv(given);
    env["PLAN"] = "pro";
    expect(given).toEqual({ PLAN: "pro" });
    delete env["PLAN"];
    expect(given).toEqual({});
  });

  it("is another within withEnv, over each await", async () => {
    testEnv({ PLAN: "outer" });
    const inside = workers.withEnv({ PLAN: "inner" }, async () => {
      const now = Date.now();
      await Promise.resolve();
      return [env["PLAN"], Date.now() >= now];
    });
    expect([env["PLAN"], await inside]).toEqual(["outer", ["inner", true]]);
    expect(workers.withEnvAndExports({ PLAN: "both" }, {}, () => env["PLAN"])).toBe("both");
    expect(workers.withExports({}, () => env["PLAN"])).toBe("outer");
  });
});

describe("the rest of cloudflare:workers, in Node", () => {
  it.each(["DurableObject", "WorkerEntrypoint", "WorkflowEntrypoint"] as const)(
    "has %s, which keeps what it is made with",
    (name) => {
      class Own extends workers[name] {
        show(): unknown[] {
          const { ctx, env: given } = this as unknown as { ctx: unknown; env: unknown };
          return [ctx, given];
        }
      }
      expect(new Own("ctx", "env").show()).toEqual(["ctx", "env"]);
    },
  );

  it("lets work of waitUntil reject without a word", async () => {
    const rejections: unknown[] = [];
    const note = (error: unknown): void => void rejections.push(error);
    process.on("unhandledRejection", note);
    workers.waitUntil(Promise.reject(new Error("lost")));
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", note);
    expect(rejections).toEqual([]);
  });

  it("runs code in spans, and traces nothing", () => {
    const { tracing } = workers;
    expect(tracing.enterSpan("a", (span, by) => [(span as { isTraced: boolean }).isTraced, by], 2)).toEqual([false, 2]);
    expect(tracing.withActiveSpan(tracing.startSpan(), () => 5)).toBe(5);
    expect(tracing.getActiveSpan()).toBeUndefined();
  });

  it("says what only the platform can do", async () => {
    expect(() => new workers.RpcStub()).toThrow("RpcStub of cloudflare:workers exists in the Workers runtime alone");
    await expect(workers.cache.purge()).rejects.toThrow("cache.purge() of cloudflare:workers exists in");
    await expect(workers.cache.invalidate()).rejects.toThrow("cache.invalidate() of cloudflare:workers exists in");
  });
});
