import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import {
  ActorError,
  fromErrorData,
  INTERNAL_ERROR_DESCRIPTION,
  RivetError,
  toErrorData,
  UserError,
} from "../../src/protocol/index.js";
import { errorCodeInfo } from "../../src/protocol/internal.js";

describe("ActorError", () => {
  it("has the status and publicity of its code", () => {
    expect(new ActorError("actor", "not_found", "m")).toMatchObject({
      statusCode: 404,
      public: true,
      name: "ActorError",
    });
    expect(new ActorError("actor", "panicked", "m")).toMatchObject({ statusCode: 500, public: false });
    expect(new ActorError("mine", "own", "m")).toMatchObject({ statusCode: 500, public: false });
  });

  it("has those it is given instead, and its cause and metadata", () => {
    const cause = new Error("deep");
    const error = new ActorError("actor", "not_found", "m", {
      statusCode: 410,
      public: false,
      metadata: { a: 1 },
      cause,
    });
    expect(error).toMatchObject({ statusCode: 410, public: false, metadata: { a: 1 } });
    expect(error.cause).toBe(cause);
    expect(Object.hasOwn(new ActorError("a", "b", "m"), "cause")).toBe(false);
    expect(error).toBeInstanceOf(Error);
  });

  it("is known by its brand, from another realm or another copy of the package too", () => {
    const foreign: unknown = runInNewContext(
      `Object.assign(new Error("m"), { __type: "RivetError", group: "actor", code: "not_found" })`,
    );
    expect(foreign).not.toBeInstanceOf(Error);
    expect(ActorError.isActorError(foreign)).toBe(true);
    expect(RivetError.isRivetError(foreign)).toBe(true);
    expect(ActorError.isActorError(new UserError("m"))).toBe(true);
  });

  it.each([
    ["null", null],
    ["a text", "ActorError"],
    ["an error without a brand", Object.assign(new Error("m"), { group: "actor", code: "not_found" })],
    ["a brand that is inherited", Object.create({ __type: "ActorError", group: "a", code: "b" })],
    ["a brand without a code", { __type: "ActorError", group: "a" }],
    ["another brand", { __type: "Error", group: "a", code: "b" }],
  ])("is not %s", (_name, value) => {
    expect(ActorError.isActorError(value)).toBe(false);
  });
});

describe("UserError", () => {
  it("is a public 400 of group user, whatever its code", () => {
    expect(new UserError("m")).toMatchObject({
      group: "user",
      code: "user_error",
      statusCode: 400,
      public: true,
      name: "UserError",
    });
    expect(new UserError("m", { code: "taken", metadata: 1 })).toMatchObject({
      code: "taken",
      statusCode: 400,
      public: true,
      metadata: 1,
    });
  });
});

describe("toErrorData", () => {
  it("passes a public error whole", () => {
    const actor = { actorId: "a", generation: 1, key: "k" };
    const error = new ActorError("queue", "full", "Queue is full.", { metadata: { limit: 1 }, actor });
    expect(toErrorData(error)).toEqual({
      data: { group: "queue", code: "full", message: "Queue is full.", metadata: { limit: 1 }, actor },
      status: 429,
      internal: false,
    });
  });

  it("keeps no more than group and code of a coded error that is not public", () => {
    const error = new ActorError("workflow", "history_diverged", "secret", { metadata: { secret: 1 } });
    expect(toErrorData(error)).toEqual({
      data: { group: "workflow", code: "history_diverged", message: INTERNAL_ERROR_DESCRIPTION },
      status: 500,
      internal: true,
    });
  });

  it("masks an error without a code, and anything else that is thrown", () => {
    for (const thrown of [
      new TypeError("secret"),
      "secret",
      null,
      undefined,
      { message: "secret" },
      Object.create(null),
    ]) {
      expect(toErrorData(thrown)).toEqual({
        data: { group: "rivetkit", code: "internal_error", message: "An internal error occurred" },
        status: 500,
        internal: true,
      });
    }
  });

  it("shows the text of all when it may", () => {
    expect(toErrorData(new TypeError("why"), { expose: true }).data.message).toBe("why");
    const diverged = new ActorError("workflow", "history_diverged", "why", { metadata: 1 });
    expect(toErrorData(diverged, { expose: true })).toMatchObject({
      data: { message: "why", metadata: 1 },
      internal: true,
    });
    expect(toErrorData(Object.create(null), { expose: true }).data.message).toBe(INTERNAL_ERROR_DESCRIPTION);
  });

  it("never answers with a status that is no error's", () => {
    for (const statusCode of [200, 99, 600, NaN, 404.5]) {
      expect(toErrorData(new ActorError("actor", "not_found", "m", { statusCode })).status).toBe(404);
    }
  });

  it("goes by the table when a branded error from elsewhere lacks its own fields", () => {
    expect(toErrorData({ __type: "RivetError", group: "user", code: "x", message: "m" })).toMatchObject({
      data: { message: "m" },
      status: 400,
    });
  });
});

describe("fromErrorData", () => {
  it("gives back what toErrorData took apart", () => {
    const error = new ActorError("queue", "full", "Queue is full.", {
      metadata: { limit: 1 },
      actor: { actorId: "a", generation: 1 },
    });
    const { data, status } = toErrorData(error);
    expect(fromErrorData(data, status)).toEqual(error);
  });

  it("takes the status of the code when there is none", () => {
    expect(fromErrorData({ group: "actor", code: "not_found", message: "m" })).toMatchObject({
      statusCode: 404,
      public: true,
    });
    expect(fromErrorData({ group: "actor", code: "not_found", message: "m" }, 410)).toMatchObject({ statusCode: 410 });
  });
});

describe("errorCodeInfo", () => {
  // One by one, also RivetKit's codes that callers may see.
  it.each([
    [
      400,
      "actor/validation_error user/anything schedule/invalid_name kv/key_too_large value/not_serializable " +
        "encoding/invalid request/invalid actor/invalid_request actor/invalid_name actor/invalid_key " +
        "actor/key_too_large guard/query_invalid_params guard/query_duplicate_param " +
        "queue/complete_not_configured",
    ],
    [401, "auth/unauthorized api/unauthorized"],
    [403, "auth/forbidden api/forbidden"],
    [404, "actor/not_found actor/action_not_found queue/not_declared event/not_declared guard/no_route"],
    [405, "actor/method_not_allowed"],
    [408, "actor/action_timed_out queue/timed_out"],
    [
      409,
      "actor/duplicate_key actor/workflow_in_flight queue/already_completed " +
        "queue/previous_message_not_completed queue/self_wait queue/wait_cycle actor/call_too_deep",
    ],
    [
      413,
      "value/too_large message/incoming_too_long message/outgoing_too_long queue/message_too_large " +
        "kv/value_too_large actor/input_too_large",
    ],
    [429, "queue/full schedule/max_schedules_exceeded guard/rate_limit"],
    [501, "feature/unsupported"],
    [503, "actor/starting actor/stopping actor/restarting actor/overloaded guard/service_unavailable"],
    [507, "storage/full"],
    [500, "storage/newer_format"],
  ])("has status %i, public, for %s", (status, names) => {
    for (const name of names.split(" ")) {
      const [group = "", code = ""] = name.split("/");
      expect([name, errorCodeInfo(group, code)]).toEqual([name, { status, public: true }]);
    }
  });

  it("masks the engine's own failures, and what it does not know", () => {
    for (const code of [
      "duplicate_name",
      "step_interrupted",
      "interrupted",
      "step_only",
      "step_ended",
      "history_diverged",
      "entry_in_progress",
      "idle_loop",
    ]) {
      expect(errorCodeInfo("workflow", code)).toEqual({ status: 500, public: false });
    }
    expect(errorCodeInfo("rivetkit", "internal_error")).toEqual({ status: 500, public: false });
    expect(errorCodeInfo("nobody", "knows")).toEqual({ status: 500, public: false });
    expect(errorCodeInfo("constructor", "name")).toEqual({ status: 500, public: false });
  });
});
