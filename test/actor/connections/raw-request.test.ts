import { describe, expect, it } from "vitest";
import { actor, type AnyActorDefinition } from "../../../src/actor/index.js";
import {
  ActorError,
  decodeValue,
  encodeValue,
  ENVELOPE_VERSION,
  fromErrorData,
  UserError,
} from "../../../src/protocol/index.js";
import type { WorldActor, WorldOptions } from "../../../src/testing/index.js";
import { single } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- the tests write handlers of any kind
type Answer = (c: any, request: Request) => unknown;

/** An actor with state `{ n }` and the test's `onRequest`. */
function answering(onRequest: Answer, more: object = {}, options: Partial<WorldOptions> = {}) {
  const definition = actor({
    state: { n: 0 },
    onRequest,
    actions: { get: (c: any) => c.state.n },
    ...more,
  } as never) as AnyActorDefinition;
  return single(definition, options);
}

/** How a request failed. */
async function failure(answer: Promise<unknown>): Promise<string> {
  return answer.then(
    () => "answered",
    (error: ActorError) => `${error.statusCode} ${error.group}/${error.code}`,
  );
}

function storedN(subject: WorldActor): number | undefined {
  const bytes = subject.store.dump().get("s");
  return bytes && (decodeValue(bytes) as { n: number }).n;
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A body whose chunks the test provides. */
function openBody() {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const cancelled: unknown[] = [];
  const stream = new ReadableStream<Uint8Array>({
    start: (own) => void (controller = own),
    cancel: (reason) => void cancelled.push(reason),
  });
  return {
    stream,
    cancelled,
    say: (text: string) => controller.enqueue(bytesOf(text)),
    end: () => controller.close(),
    fail: (error: Error) => controller.error(error),
  };
}

async function nextText(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string | undefined> {
  const { value } = await reader.read();
  return value && new TextDecoder().decode(value);
}

describe("onRequest", () => {
  it("sees path, query, method, headers and body as they were sent, also as c.request (A38)", async () => {
    const { subject } = answering(async (c, request) => {
      const { pathname, search } = new URL(request.url);
      return Response.json({
        pathname,
        search,
        method: request.method,
        header: request.headers.get("x-mine"),
        body: await request.text(),
        isSame: c.request === request,
      });
    });
    const response = await subject.fetch("/a%2Fb/c?x=1&y=%20", {
      method: "PUT",
      headers: { "x-mine": "yes" },
      body: "é",
    });
    expect(await response.json()).toEqual({
      pathname: "/a%2Fb/c",
      search: "?x=1&y=%20",
      method: "PUT",
      header: "yes",
      body: "é",
      isSame: true,
    });
  });

  it("gives status, headers and body of its Response", async () => {
    const headers = new Headers([
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
      ["content-type", "text/plain"],
    ]);
    const { subject } = answering(() => new Response("made", { status: 201, statusText: "Made", headers }));
    const response = await subject.fetch("/");
    expect([
      response.status,
      response.statusText,
      response.headers.getSetCookie(),
      response.headers.get("content-type"),
    ]).toEqual([201, "Made", ["a=1", "b=2"], "text/plain"]);
    expect(await response.text()).toBe("made");
  });

  it("may answer without a body, and a HEAD with one that nobody gets", async () => {
    const body = openBody();
    const { subject } = answering((_c, { method }) =>
      method === "HEAD" ? new Response(body.stream) : new Response(null, { status: 204 }),
    );
    const response = await subject.fetch("/");
    expect([response.status, response.body]).toEqual([204, null]);
    expect((await subject.fetch("/", { method: "HEAD" })).body).toBe(null);
    expect(body.cancelled).toHaveLength(1);
  });

  it("that is absent is a 404, which creates no actor (A36)", async () => {
    const { subject } = single(actor({ state: 1, actions: { get: (c) => c.state } }));
    expect(await failure(subject.fetch("/"))).toBe("404 actor/no_request_handler");
    expect(subject.store.keys).toEqual([]);
    await subject.call("get");
    expect(await failure(subject.fetch("/"))).toBe("404 actor/no_request_handler");
  });

  it.each<[string, () => unknown]>([
    ["nothing", () => undefined],
    ["a text", () => "text"],
    ["an object like one", () => ({ status: 200, body: null, headers: new Headers() })],
    ["a failed fetch's Response", () => Response.error()],
    [
      "a Response that was read",
      async () => {
        const response = new Response("x");
        await response.text();
        return response;
      },
    ],
  ])("that gives %s is a typed 500, and keeps what it changed (A37)", async (_what, answer) => {
    for (const give of [answer, async () => answer()]) {
      const { subject } = answering((c) => {
        c.state.n += 1;
        return give();
      });
      await expect(subject.fetch("/")).rejects.toMatchObject({
        statusCode: 500,
        group: "actor",
        code: "invalid_response",
        message: expect.stringContaining("`onRequest`"),
      });
      expect(storedN(subject)).toBe(1);
    }
  });

  it("that throws is answered as an action that throws, and keeps what it changed", async () => {
    let thrown: unknown;
    const { subject } = answering((c) => {
      c.state.n += 1;
      throw thrown;
    });
    thrown = new UserError("Sold out", { code: "sold_out", metadata: { left: 0 } });
    await expect(subject.fetch("/")).rejects.toMatchObject({
      statusCode: 400,
      group: "user",
      code: "sold_out",
      message: "Sold out",
      metadata: { left: 0 },
    });
    thrown = new ActorError("user", "teapot", "I am one", { statusCode: 418, public: true });
    expect(await failure(subject.fetch("/"))).toBe("418 user/teapot");
    thrown = new Error("the password is hunter2");
    await expect(subject.fetch("/")).rejects.toMatchObject({ statusCode: 500, message: "An internal error occurred" });
    expect(storedN(subject)).toBe(3);
  });

  it("that would make its state too large is told where it does", async () => {
    const { subject } = answering((c) => {
      c.state.n = "x".repeat(2_000_001);
      return new Response("never");
    });
    expect(await failure(subject.fetch("/"))).toBe("413 value/too_large");
    expect(await subject.call("get")).toBe(0);
  });

  it.each(["at once", "later"])(
    "is refused with what it has begun (%s), and the body that nobody gets is cancelled",
    async (when) => {
      const body = openBody();
      const { world, subject } = answering(
        (c) => {
          void c.queue.send("q", 1);
          return when === "later"
            ? world.clock.delay(5).then(() => new Response(body.stream))
            : new Response(body.stream);
        },
        {
          queues: {
            q: {
              "~standard": {
                version: 1,
                vendor: "test",
                validate: async () => (await world.clock.delay(10), { issues: [{ message: "no" }] }),
              },
            },
          },
        },
      );
      const answer = failure(subject.fetch("/"));
      await world.pass(20);
      expect(await answer).toBe("400 actor/validation_error");
      expect(body.cancelled).toHaveLength(1);
    },
  );

  it("has `actionTimeout` to give its Response, and its late one goes; the body may take longer", async () => {
    const [late, long] = [openBody(), openBody()];
    let reason: unknown;
    const { world, subject } = answering(
      async (c, { url }) => {
        c.abortSignal.addEventListener("abort", () => (reason = c.abortSignal.reason));
        if (url.endsWith("/long")) return new Response(long.stream);
        await world.clock.delay(1_500);
        return new Response(late.stream);
      },
      { options: { actionTimeout: 1_000 } },
    );
    const answer = failure(subject.fetch("/late"));
    await world.pass(1_000);
    expect(await answer).toBe("408 actor/action_timed_out");
    expect(reason).toMatchObject({ code: "action_timed_out" });
    await world.pass(1_000);
    expect(late.cancelled).toHaveLength(1);
    reason = undefined;
    const response = await subject.fetch("/long");
    await world.pass(60_000);
    long.say("late");
    long.end();
    expect(await response.text()).toBe("late");
    expect(reason).toBeUndefined();
    expect(subject.timersHeld).toBe(0);
  });
});

describe("what onRequest changes", () => {
  it("is durable before its Response is seen: wherever the object dies, there is none", async () => {
    const undisturbed = answering((c) => new Response(String((c.state.n += 1))));
    await undisturbed.subject.fetch("/");
    const { commits } = undisturbed.subject.store;
    for (let at = 1; at <= commits; at += 1) {
      for (const kind of ["crash-before", "crash-after"] as const) {
        const { subject } = answering(
          (c) => new Response(String((c.state.n += 1))),
          {},
          { fault: (_actor, commit) => (commit === at ? kind : undefined) },
        );
        const answer = await subject.fetch("/").then(
          (response) => response.text(),
          () => undefined,
        );
        expect(answer, `${kind} ${at}`).toBeUndefined();
        expect(subject.crashes).toBe(1);
      }
    }
    expect([commits, undisturbed.subject.store.rows], "the creation, and the change").toEqual([2, 2 + 1]);
  });

  it("while its body is made is durable before that part of the body leaves", async () => {
    const { subject, world } = answering((c) => {
      let parts = 0;
      return new Response(
        new ReadableStream(
          {
            pull: async (controller) => {
              await world.turn();
              c.state.n += 1;
              controller.enqueue(bytesOf(String(c.state.n)));
              if (++parts === 3) controller.close();
            },
          },
          { highWaterMark: 0 },
        ),
      );
    });
    const reader = (await subject.fetch("/")).body!.getReader();
    for (let part = 1; part <= 3; part += 1) {
      expect(await nextText(reader)).toBe(String(part));
      await subject.store.outputGate();
      expect(storedN(subject)).toBeGreaterThanOrEqual(part);
    }
    expect(await nextText(reader)).toBeUndefined();
  });

  it("at any other time is committed at the end of the turn", async () => {
    const body = openBody();
    const { subject, world } = answering((c) => {
      void world.clock.delay(1_000).then(() => (c.state.n = 7));
      return new Response(body.stream);
    });
    await subject.fetch("/");
    expect(storedN(subject)).toBe(0);
    await world.pass(1_000);
    expect(storedN(subject)).toBe(7);
  });

  it("can be refused by the storage while the body is made: then the body breaks off", async () => {
    const body = openBody();
    let refuses = false;
    const { subject, world } = answering(
      (c) => {
        void world.clock.delay(1_000).then(() => {
          refuses = true;
          c.state.n = 7;
          body.say("seven");
        });
        return new Response(body.stream);
      },
      {},
      { fault: () => (refuses ? "refuse" : undefined) },
    );
    const reader = (await subject.fetch("/")).body!.getReader();
    const part = nextText(reader).catch((error: unknown) => error);
    await world.pass(1_000);
    expect(await part).toMatchObject({ group: "actor", code: "restarting" });
    expect(body.cancelled).toHaveLength(1);
  });
});

describe("a body", () => {
  it("reaches the caller part by part, as it is made", async () => {
    const body = openBody();
    const { subject } = answering(
      () => new Response(body.stream, { headers: { "content-type": "text/event-stream" } }),
    );
    const response = await subject.fetch("/");
    const reader = response.body!.getReader();
    for (const text of ["data: 1\n\n", "data: 2\n\n"]) {
      body.say(text);
      expect(await nextText(reader)).toBe(text);
    }
    body.end();
    expect(await nextText(reader)).toBeUndefined();
  });

  it("may be that of the request, still on its way", async () => {
    const sent = openBody();
    const { subject } = answering(
      (_c, request) =>
        new Response(
          request.body!.pipeThrough(
            new TransformStream<Uint8Array, Uint8Array>({
              transform: (chunk, controller) =>
                controller.enqueue(bytesOf(new TextDecoder().decode(chunk).toUpperCase())),
            }),
          ),
        ),
    );
    const response = await subject.fetch("/", { method: "POST", body: sent.stream, duplex: "half" } as RequestInit);
    const reader = response.body!.getReader();
    for (const text of ["one", "two"]) {
      sent.say(text);
      expect(await nextText(reader)).toBe(text.toUpperCase());
    }
    sent.end();
    expect(await nextText(reader)).toBeUndefined();
  });

  it("that breaks off breaks off for the caller, and is logged", async () => {
    for (const [what, breakOff] of [
      ["an error", (body: ReturnType<typeof openBody>) => body.fail(new Error("no more"))],
      ["no bytes", undefined],
    ] as const) {
      const body = openBody();
      const { subject, log } = answering(
        () =>
          new Response(
            breakOff
              ? body.stream
              : (new ReadableStream({ start: (c) => c.enqueue(1 as never) }) as ReadableStream<Uint8Array>),
          ),
      );
      const response = await subject.fetch("/");
      breakOff?.(body);
      expect(await response.text().catch((error: Error) => error.message), what).toMatch(
        breakOff ? /no more/ : /not a stream of bytes/,
      );
      expect(
        log.filter(({ level }) => level === "error").map(({ entry }) => entry["msg"]),
        what,
      ).toEqual(["The response of `onRequest` was interrupted"]);
    }
  });

  it("is cancelled when its caller has gone, and abortSignal fires", async () => {
    const body = openBody();
    let signal: AbortSignal | undefined;
    const { subject, world } = answering((c) => {
      signal = c.abortSignal;
      return new Response(body.stream);
    });
    const reader = (await subject.fetch("/")).body!.getReader();
    body.say("one");
    expect(await nextText(reader)).toBe("one");
    expect(signal?.aborted).toBe(false);
    await reader.cancel("enough");
    await world.settle();
    expect(body.cancelled).toEqual(["enough"]);
    expect(signal?.reason).toMatchObject({ group: "actor", code: "aborted" });
  });

  it("keeps the actor awake until it has ended", async () => {
    const body = openBody();
    const seen: string[] = [];
    const { subject, world } = answering(() => new Response(body.stream), {
      onSleep: () => void seen.push("onSleep"),
      options: { sleepTimeout: 1_000 },
    });
    const response = await subject.fetch("/");
    await world.pass(60_000);
    expect(seen).toEqual([]);
    body.end();
    await response.text();
    await world.pass(2_000);
    expect(seen).toEqual(["onSleep"]);
  });

  it("ends with the actor", async () => {
    const body = openBody();
    const seen: string[] = [];
    const { subject, world } = answering(
      (c, { url }) => {
        if (url.endsWith("/end")) {
          c.destroy();
          return new Response("bye");
        }
        c.abortSignal.addEventListener("abort", () => seen.push("aborted"));
        return new Response(body.stream);
      },
      { onDestroy: () => void seen.push("onDestroy") },
    );
    const reader = (await subject.fetch("/")).body!.getReader();
    expect(await (await subject.fetch("/end")).text()).toBe("bye");
    await world.settle();
    expect(await reader.read().catch((error: unknown) => error)).toMatchObject({ group: "actor", code: "destroyed" });
    expect(seen).toEqual(["aborted", "onDestroy"]);
    expect(body.cancelled).toHaveLength(1);
    expect(subject.store.keys).toEqual([]);
  });
});

describe("the caller of onRequest", () => {
  it("that goes before it has an answer fires abortSignal, and the handler may end as it likes", async () => {
    const seen: unknown[] = [];
    const { subject, world } = answering(async (c) => {
      await new Promise((resolve) => c.abortSignal.addEventListener("abort", resolve));
      seen.push(c.abortSignal.reason.code, c.aborted);
      c.state.n = 9;
      return new Response("nobody reads this");
    });
    const controller = new AbortController();
    const answer = subject.fetch("/", { signal: controller.signal });
    await world.settle();
    controller.abort();
    await answer.catch(() => {});
    await world.settle();
    expect(seen).toEqual(["aborted", true]);
    expect(storedN(subject)).toBe(9);
  });

  /** An actor whose hooks record what they see of a caller. */
  function watched(answer: Answer) {
    const seen: string[] = [];
    const made = answering(
      (c, request) => {
        seen.push(`onRequest ${c.conn.params} ${c.conns.size}`);
        return answer(c, request);
      },
      {
        onBeforeConnect: (c: any, params: string) => {
          seen.push(`onBeforeConnect ${new URL(c.request.url).pathname}`);
          if (params === "banned") throw new UserError("No", { code: "banned" });
        },
        onConnect: () => void seen.push("onConnect"),
        onDisconnect: (c: any, _conn: unknown, { code }: { code: number }) =>
          void seen.push(`onDisconnect ${code} ${c.conns.size}`),
      },
    );
    const fetch = (path: string, params: string): Promise<Response> =>
      made.subject
        .deliverRequest(
          {
            v: ENVELOPE_VERSION,
            address: { name: "subject", key: ["k"] },
            creation: { mode: "getOrCreate" },
            operation: { kind: "request" },
            params: encodeValue(params),
            request: { method: "GET", url: `http://host${path}`, headers: [] },
          },
          new Request(`http://host${path}`),
        )
        .then((reply) => (reply.ok ? reply.response : Promise.reject(fromErrorData(reply.error, reply.status))));
    return { ...made, seen, fetch };
  }

  it("is a connection until the body has ended", async () => {
    const body = openBody();
    const { world, seen, fetch } = watched(() => new Response(body.stream));
    const response = await fetch("/p", "ann");
    await world.settle();
    expect(seen.splice(0)).toEqual(["onBeforeConnect /p", "onConnect", "onRequest ann 1"]);
    body.end();
    await response.text();
    await world.settle();
    expect(seen).toEqual(["onDisconnect 1000 0"]);
  });

  it("of a short body need not read it to its end, and of none is gone with the Response", async () => {
    const { world, seen, fetch } = watched((_c, { url }) => new Response(url.endsWith("/none") ? null : "short"));
    await fetch("/none", "ann");
    expect(seen.at(-1)).toBe("onDisconnect 1000 0");
    seen.length = 0;
    await fetch("/short", "ann");
    await world.settle();
    expect(seen.at(-1)).toBe("onDisconnect 1000 0");
  });

  it("that goes in the middle is lost, as onDisconnect is told", async () => {
    const body = openBody();
    const { world, seen, fetch } = watched(() => new Response(body.stream));
    await (await fetch("/p", "ann")).body?.cancel();
    await world.settle();
    expect(seen.at(-1)).toBe("onDisconnect 1006 0");
  });

  it("that the hooks refuse does not reach it", async () => {
    const { seen, fetch } = watched(() => new Response("secret"));
    expect(await failure(fetch("/p", "banned"))).toBe("400 user/banned");
    expect(seen).toEqual(["onBeforeConnect /p"]);
  });

  it("whose handler fails has gone, too", async () => {
    const { seen, fetch } = watched(() => undefined);
    expect(await failure(fetch("/p", "ann"))).toBe("500 actor/invalid_response");
    expect(seen.at(-1)).toBe("onDisconnect 1000 0");
  });
});
