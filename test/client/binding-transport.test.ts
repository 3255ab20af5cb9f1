import { describe, expect, test, vi } from "vitest";
import { createBindingTransport, createClientWithTransport, type ActorBinding } from "../../src/client/binding.js";
import { ActorError, decodeValue, encodeValue } from "../../src/protocol/index.js";

function over(answer: ActorBinding["call"], sent: ActorBinding["send"] = async () => ({ status: "completed" })) {
  const call = vi.fn<ActorBinding["call"]>(answer);
  const send = vi.fn<ActorBinding["send"]>(sent);
  const ports = { sleep: async () => {}, random: () => 0 };
  return {
    client: createClientWithTransport(
      createBindingTransport(
        {
          call,
          send,
          openSocket: () => Promise.reject(new Error("no sockets here")),
          fetch: async () => new Response(),
        },
        ports,
      ),
    ),
    call,
    send,
  };
}
const unused: ActorBinding["call"] = async () => ({ actorId: "id" });

describe("the client over a binding", () => {
  test("hands arguments and params over as bytes, and gives the result as a value of its own", async () => {
    const stored = { list: [1] };
    const { client, call } = over(async () => ({ actorId: "id", output: encodeValue(stored) }));
    const argument = { n: 1n };
    const result = await client.counter.getOrCreate("a", { params: "p", createWithInput: 5 }).users.add(argument);
    expect(result).toEqual(stored);
    const [{ target, operation, params }] = call.mock.calls[0] as Parameters<ActorBinding["call"]>;
    expect(target).toMatchObject({
      name: "counter",
      key: ["a"],
      creation: { mode: "getOrCreate", input: encodeValue(5) },
    });
    expect(operation).toMatchObject({ kind: "action", name: "users.add" });
    expect(operation.kind === "action" && decodeValue(operation.args)).toEqual([argument]);
    expect(decodeValue(params ?? new Uint8Array())).toBe("p");
  });

  test("hands over inputs of 4 MiB, and no larger ones", async () => {
    const { client, call } = over(async () => ({ actorId: "id" }));
    const input = "x".repeat(4 * 1024 * 1024 - 5);
    await client.counter.create("a", { input });
    await client.counter.getOrCreate("a", { createWithInput: input }).x();
    expect(call).toHaveBeenCalledTimes(2);
    for (const tooLarge of [
      client.counter.create("a", { input: `${input}x` }),
      client.counter.getOrCreate("a", { createWithInput: `${input}x` }).x(),
    ]) {
      await expect(tooLarge).rejects.toMatchObject({
        group: "actor",
        code: "input_too_large",
        statusCode: 413,
        metadata: { limitBytes: 4 * 1024 * 1024 },
      });
    }
    expect(call).toHaveBeenCalledTimes(2);
  });

  test("an action without a result gives undefined", async () => {
    expect(
      await over(async () => ({ actorId: "id" }))
        .client.counter.get("a")
        .x(),
    ).toBeUndefined();
  });

  test("an error without a code is masked, its cause kept for the log", async () => {
    const cause = new Error("a secret");
    const failure = (await over(() => Promise.reject(cause))
      .client.counter.get("a")
      .x()
      .catch((error: unknown) => error)) as ActorError;
    expect(failure).toMatchObject({
      group: "rivetkit",
      code: "internal_error",
      message: "An internal error occurred",
      statusCode: 500,
    });
    expect(failure.cause).toBe(cause);
  });

  test("an aborted call rejects at once and leaves no listener", async () => {
    const { client, call } = over(() => new Promise(() => {}));
    const controller = new AbortController();
    const removed = vi.spyOn(controller.signal, "removeEventListener");
    const result = client.counter
      .get("a")
      .action({ name: "x", signal: controller.signal })
      .catch((error: unknown) => error);
    await vi.waitFor(() => expect(call).toHaveBeenCalled());
    controller.abort("enough");
    expect(await result).toBe("enough");
    expect(removed).toHaveBeenCalled();
  });

  test("a gateway URL is a typed refusal", async () => {
    await expect(over(unused).client.counter.get("a").getGatewayUrl()).rejects.toMatchObject({
      group: "feature",
      code: "unsupported",
      statusCode: 501,
    });
  });

  test("a call that may not leave does not: what the port throws is the caller's", async () => {
    const refused = new ActorError("storage", "full", "full");
    await expect(
      over(() => Promise.reject(refused))
        .client.counter.get("a")
        .x(),
    ).rejects.toBe(refused);
  });
});

describe("a send over a binding", () => {
  test("hands the message over as bytes; a plain one gives nothing back", async () => {
    const { client, send, call } = over(unused);
    expect(
      await client.jobs.getOrCreate("a", { params: { p: 1n }, createWithInput: 5 }).send("q", { n: 1n }),
    ).toBeUndefined();
    const [{ target, queue, body, wait, params, ...more }] = send.mock.calls[0] as Parameters<ActorBinding["send"]>;
    expect([target, queue, decodeValue(body), wait, decodeValue(params ?? new Uint8Array()), more]).toEqual([
      { name: "jobs", key: ["a"], creation: { mode: "getOrCreate", input: encodeValue(5) } },
      "q",
      { n: 1n },
      false,
      { p: 1n },
      {},
    ]);
    expect(call).not.toHaveBeenCalled();
  });

  test("that waits gives the reply as a value, or says that the time was over", async () => {
    const { client, send } = over(unused, async ({ timeoutMs }) =>
      timeoutMs === 0 ? { status: "timedOut" } : { status: "completed", reply: encodeValue(new Set([1])) },
    );
    const handle = client.jobs.get("a");
    expect(await handle.send("q", 1, { wait: true, timeout: 50 })).toEqual({
      status: "completed",
      response: new Set([1]),
    });
    expect(await handle.send("q", 1, { wait: true, timeout: 0 })).toEqual({ status: "timedOut" });
    expect(await handle.send("q", 1, { wait: true })).toEqual({ status: "completed", response: new Set([1]) });
    expect(send.mock.calls.map(([sent]) => [sent.wait, sent.timeoutMs])).toEqual([
      [true, 50],
      [true, 0],
      [true, undefined],
    ]);
  });

  test("is repeated only if it was refused before it began", async () => {
    let tries = 0;
    const starting = new ActorError("actor", "starting", "soon", { metadata: { retryable: true } });
    const { client, send } = over(unused, async () => {
      if (++tries < 3) throw starting;
      return { status: "completed" };
    });
    await client.jobs.get("a").send("q", 1);
    expect(send).toHaveBeenCalledTimes(3);
    const lost = over(unused, () =>
      Promise.reject(new ActorError("actor", "restarting", "gone", { metadata: { retryable: true } })),
    );
    await expect(lost.client.jobs.get("a").send("q", 1)).rejects.toMatchObject({ code: "restarting" });
    expect(lost.send).toHaveBeenCalledTimes(1);
  });

  test("rejects at once when it is aborted, and tells whoever waits for it", async () => {
    const { client, send } = over(unused, () => new Promise(() => {}));
    const controller = new AbortController();
    const result = client.jobs
      .get("a")
      .send("q", 1, { wait: true, signal: controller.signal })
      .catch((error: unknown) => error);
    await vi.waitFor(() => expect(send).toHaveBeenCalled());
    controller.abort("enough");
    expect(await result).toBe("enough");
    expect(send.mock.calls[0]?.[0].signal?.aborted).toBe(true);
  });
});
