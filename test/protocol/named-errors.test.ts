import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import * as errors from "../../src/entry/errors.js";

describe("errors of perdure/errors", () => {
  it.each<[errors.ActorError, string, number, boolean, string]>([
    [errors.internalError("boom"), "actor/internal_error", 500, false, "boom"],
    [errors.internalError("boom", { group: "mine", code: "own" }), "mine/own", 500, false, "boom"],
    [errors.invalidEncoding("xml"), "encoding/invalid", 400, true, "Invalid encoding `xml`."],
    [errors.invalidRequest("no body"), "request/invalid", 400, true, "Invalid request: no body"],
    [errors.invalidRequest(new Error("no body")), "request/invalid", 400, true, "Invalid request: no body"],
    [errors.invalidRequest(5), "request/invalid", 400, true, "Invalid request: 5"],
    [errors.actorNotFound(), "actor/not_found", 404, true, "Actor not found"],
    [errors.actorNotFound("chat"), "actor/not_found", 404, true, "Actor not found: chat"],
    [errors.actorStopping(), "actor/stopping", 503, true, "Actor stopping"],
    [errors.actorStopping("chat"), "actor/stopping", 503, true, "Actor stopping: chat"],
    [errors.actorRestarting(), "actor/restarting", 503, true, "Actor is restarting. Retry the request."],
    [errors.unauthorizedError(), "auth/unauthorized", 401, true, "Unauthorized"],
    [errors.unauthorizedError("Sign in first"), "auth/unauthorized", 401, true, "Sign in first"],
    [errors.forbiddenError("Not yours"), "auth/forbidden", 403, true, "Not yours"],
    [errors.forbiddenError(), "auth/forbidden", 403, true, "Forbidden"],
    [errors.unsupportedFeature("x"), "feature/unsupported", 501, true, "Unsupported feature: x"],
  ])("%s is %s, %i, public: %s", (error, name, status, isPublic, message) => {
    expect(error).toBeInstanceOf(errors.RivetError);
    expect([`${error.group}/${error.code}`, error.statusCode, error.public, error.message]).toEqual([
      name,
      status,
      isPublic,
      message,
    ]);
  });

  it("tell a caller of a restarting actor when to try again", () => {
    expect(errors.actorRestarting().metadata).toEqual({ retryable: true });
    expect(errors.actorRestarting({ phase: "wake", retryAfterMs: 0 }).metadata).toEqual({
      retryable: true,
      phase: "wake",
      retryAfterMs: 0,
    });
  });
});

describe("isRivetErrorLike", () => {
  it.each<[string, unknown]>([
    ["an ActorError", new errors.ActorError("a", "b", "m")],
    ["data", { group: "a", code: "b", message: "m" }],
    [
      "one of another realm",
      runInNewContext(`Object.assign(new Error("m"), { __type: "RivetError", group: "a", code: "b" })`),
    ],
  ])("holds for %s", (_what, error) => expect(errors.isRivetErrorLike(error)).toBe(true));

  it.each<[string, unknown]>([
    ["null", null],
    ["a text", "a/b"],
    ["an Error", new Error("m")],
    ["another brand", { __type: "Error", group: "a", code: "b", message: "m" }],
    ["no message", { group: "a", code: "b" }],
  ])("does not hold for %s", (_what, error) => expect(errors.isRivetErrorLike(error)).toBe(false));

  it("has narrower forms", () => {
    const full = new errors.ActorError("queue", "full", "m");
    expect([
      errors.isRivetErrorCode(full, "queue", "full"),
      errors.isRivetErrorCode(full, "queue", "x"),
      errors.isRivetErrorCode(1, "queue", "full"),
    ]).toEqual([true, false, false]);
    expect([
      errors.isActorAbortedError({ group: "actor", code: "aborted", message: "m" }),
      errors.isActorAbortedError(full),
    ]).toEqual([true, false]);
  });
});

describe("toRivetError", () => {
  it("gives an ActorError back as it is", () => {
    const error = new errors.UserError("m");
    expect(errors.toRivetError(error)).toBe(error);
  });

  it("makes an ActorError of data, with status and publicity of the code or its own", () => {
    expect(errors.toRivetError({ group: "actor", code: "not_found", message: "m", metadata: { a: 1 } })).toMatchObject({
      statusCode: 404,
      public: true,
      metadata: { a: 1 },
    });
    expect(
      errors.toRivetError({ group: "actor", code: "not_found", message: "m", public: false, statusCode: 410 }),
    ).toMatchObject({ statusCode: 410, public: false });
  });

  it("makes anything else an internal error, or what it is told, and keeps it as cause", () => {
    const cause = new Error("deep");
    expect(errors.toRivetError(cause)).toMatchObject({
      group: "actor",
      code: "internal_error",
      message: "deep",
      public: false,
      statusCode: 500,
      cause,
    });
    expect(errors.toRivetError("a text")).toMatchObject({ message: "a text", cause: "a text" });
    expect(errors.toRivetError(undefined, { group: "user", code: "bad", message: "m", metadata: 1 })).toMatchObject({
      group: "user",
      code: "bad",
      message: "m",
      public: true,
      metadata: 1,
    });
    expect(errors.toRivetError(null)).toMatchObject({ message: "Unknown error" });
  });
});
