import { describe, expect, test, vi } from "vitest";
import { ActorError } from "../../src/protocol/index.js";
import type { RouterLog, RouterOptions } from "../../src/router/index.js";
import { FakeObjects, fail, succeed, type Answer } from "./fake-objects.js";
import { postAction, routerOver } from "./post-action.js";

const platformError = (flags: object): Error => Object.assign(new Error("internal detail of the platform"), flags);

async function act(
  answer: Answer,
  options: Partial<RouterOptions> = {},
): Promise<{ response: Response; body: unknown; objects: FakeObjects }> {
  const objects = new FakeObjects(answer);
  const response = await postAction(routerOver(objects, options), "", { origin: "http://localhost:5173" });
  return { response, body: await response.json(), objects };
}

async function resolve(
  answer: Answer,
  options: Partial<RouterOptions> = {},
  method = "PUT",
): Promise<{ status: number; objects: FakeObjects }> {
  const objects = new FakeObjects(answer);
  const response = await routerOver(objects, options)("/actors?namespace=default", {
    method,
    body: '{"name":"counter","key":"a"}',
  });
  return { status: response.status, objects };
}

describe("an actor's error", () => {
  test("is answered with its status and data", async () => {
    const { response, body } = await act(() => fail("user", "out_of_stock", 400, { left: 0 }));
    expect(response.status).toBe(400);
    expect(body).toEqual({ group: "user", code: "out_of_stock", message: "it is out_of_stock", metadata: { left: 0 } });
    expect(response.headers.get("access-control-allow-origin")).toBe("http://localhost:5173");
  });

  test("has metadata null if it has none, as published clients expect", async () => {
    const { body } = await act(() => fail("actor", "action_not_found", 404));
    expect(body).toEqual({ group: "actor", code: "action_not_found", message: "it is action_not_found" });
  });

  test("names the actor in a header", async () => {
    const actor = { actorId: "id", generation: 1, key: "a" };
    const { response, body } = await act(() => ({
      v: 1,
      ok: false,
      status: 404,
      error: { group: "g", code: "c", message: "m", actor },
    }));
    expect(body).toMatchObject({ actor });
    expect(response.headers.get("x-rivet-actor")).toBe("id");
  });

  test.each([
    [{ retryable: true, retryAfterMs: 2500 }, "3"],
    [{ retryable: true }, "1"],
    [undefined, "1"],
  ])("of status 503 with metadata %j says Retry-After: %s", async (metadata, seconds) => {
    const { response } = await act(() => fail("actor", "starting", 503, metadata));
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, seconds]);
  });

  test("with a status that is none is a 500", async () => {
    expect((await act(() => fail("x", "y", 200))).response.status).toBe(500);
  });
});

describe("a stub that throws", () => {
  test("because of overload is a 503 that is never repeated", async () => {
    const { response, body, objects } = await act(() =>
      Promise.reject(platformError({ overloaded: true, retryable: true })),
    );
    expect([response.status, body]).toMatchObject([
      503,
      { group: "actor", code: "overloaded", metadata: { retryable: false } },
    ]);
    expect(response.headers.has("retry-after")).toBe(true);
    expect(objects.calls).toHaveLength(1);
    expect(
      (await resolve(() => Promise.reject(platformError({ overloaded: true, retryable: true })))).objects.calls,
    ).toHaveLength(1);
  });

  test.each([{ retryable: true }, { durableObjectReset: true }])(
    "with %j during an action is actor/restarting, not repeated: it may have run",
    async (flags) => {
      const { response, body, objects } = await act(() => Promise.reject(platformError(flags)));
      expect([response.status, body]).toMatchObject([
        503,
        { group: "actor", code: "restarting", metadata: { retryable: true } },
      ]);
      expect(objects.calls).toHaveLength(1);
    },
  );

  test("retryably while an actor is resolved is tried three times, each with a new stub and a longer pause", async () => {
    const sleep = vi.fn<(ms: number) => Promise<void>>(async () => {});
    const { status, objects } = await resolve(() => Promise.reject(platformError({ retryable: true })), {
      sleep,
      random: () => 0.5,
    });
    expect(status).toBe(503);
    expect(new Set(objects.calls.map(({ stub }) => stub)).size).toBe(3);
    expect(sleep.mock.calls).toEqual([[37.5], [75]]);
  });

  test("once and then works resolves", async () => {
    let tries = 0;
    const { status } = await resolve(() =>
      ++tries < 3 ? Promise.reject(platformError({ retryable: true })) : succeed(),
    );
    expect(status).toBe(200);
  });

  test("while an actor is created is not repeated: a second try would find the first one's actor", async () => {
    const { status, objects } = await resolve(() => Promise.reject(platformError({ retryable: true })), {}, "POST");
    expect([status, objects.calls.length]).toEqual([503, 1]);
  });

  test.each<[string, Answer]>([
    ["an error", () => Promise.reject(platformError({}))],
    ["no error at all", () => Promise.reject("a string")],
    ["nothing, but answers nonsense", () => ({ v: 1 }) as never],
    ["nothing, but answers an error without data", () => ({ v: 1, ok: false, status: 500 }) as never],
  ])("%s is masked, logged under an id, and the id is in the answer", async (_what, answer) => {
    const log = { warn: () => {}, error: vi.fn<RouterLog["error"]>() };
    const { response, body } = await act(answer, { log });
    expect(response.status).toBe(500);
    expect(body).toEqual({
      group: "rivetkit",
      code: "internal_error",
      message: "An internal error occurred",
      metadata: { errorId: "error-1" },
    });
    expect(response.headers.get("x-rivet-ray-id")).toBe("error-1");
    expect(log.error).toHaveBeenCalledOnce();
    expect(log.error.mock.calls[0]?.[0]).toMatchObject({
      errorId: "error-1",
      method: "POST",
      path: "/gateway/counter/action/add",
    });
  });

  test("shows its text where errors are exposed", async () => {
    const { body } = await act(() => Promise.reject(platformError({})), { exposeErrors: true });
    expect(body).toMatchObject({ message: "internal detail of the platform" });
  });
});

test("a coded error that is not public keeps its code and loses its text", async () => {
  const secret = new ActorError("actor", "panicked", "a secret");
  const { body } = await act(() => Promise.reject(secret));
  expect(body).toEqual({
    group: "actor",
    code: "panicked",
    message: "An internal error occurred",
    metadata: { errorId: "error-1" },
  });
});

test("a log has no token in it", async () => {
  const log = { warn: () => {}, error: vi.fn<RouterLog["error"]>() };
  const objects = new FakeObjects(() => Promise.reject(platformError({})));
  await routerOver(objects, { log })(
    "/gateway/counter@hush/action/add?rvt-namespace=default&rvt-method=get&rvt-token=hush",
    {
      method: "POST",
      headers: { "x-rivet-token": "hush", authorization: "Bearer hush" },
    },
  );
  expect(log.error).toHaveBeenCalledOnce();
  expect(JSON.stringify(log.error.mock.calls)).not.toContain("hush");
});

describe("a value beyond a limit of callers", () => {
  test.each([
    ["deep", JSON.parse("[".repeat(70) + "]".repeat(70)) as unknown, { maxDepth: expect.any(Number) }],
    ["long regular expressions", ["$RegExp", ["a".repeat(5_000), ""]], { maxRegExpLength: 4096 }],
  ])("is named as what it is, not as a body of another shape: %s", async (_name, value, metadata) => {
    const response = await postAction(
      routerOver(new FakeObjects(() => succeed(1))),
      JSON.stringify({ args: [value] }),
      { "x-perdure-json": "1" },
    );
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { group: "encoding", code: "invalid", metadata },
    ]);
  });
});
