import { describe, expect, test, vi } from "vitest";
import { createBindingTransport, createClientWithTransport, type CallBinding } from "../../src/client/index.js";
import { ActorError, decodeValue, encodeValue } from "../../src/protocol/index.js";

function over(answer: CallBinding) {
  const call = vi.fn<CallBinding>(answer);
  const ports = { sleep: async () => {}, random: () => 0 };
  return { client: createClientWithTransport(createBindingTransport(call, ports)), call };
}

describe("the client over a binding", () => {
  test("hands arguments and params over as bytes, and gives the result as a value of its own", async () => {
    const stored = { list: [1] };
    const { client, call } = over(async () => ({ actorId: "id", output: encodeValue(stored) }));
    const argument = { n: 1n };
    const result = await client.counter.getOrCreate("a", { params: "p", createWithInput: 5 }).users.add(argument);
    expect(result).toEqual(stored);
    const [{ target, operation, params }] = call.mock.calls[0] as Parameters<CallBinding>;
    expect(target).toMatchObject({ name: "counter", key: ["a"], creation: { mode: "getOrCreate", input: encodeValue(5) } });
    expect(operation).toMatchObject({ kind: "action", name: "users.add" });
    expect(operation.kind === "action" && decodeValue(operation.args)).toEqual([argument]);
    expect(decodeValue(params ?? new Uint8Array())).toBe("p");
  });

  test("an action without a result gives undefined", async () => {
    expect(await over(async () => ({ actorId: "id" })).client.counter.get("a").x()).toBeUndefined();
  });

  test("an error without a code is masked, its cause kept for the log", async () => {
    const cause = new Error("a secret");
    const failure = (await over(() => Promise.reject(cause)).client.counter.get("a").x().catch((error: unknown) => error)) as ActorError;
    expect(failure).toMatchObject({ group: "rivetkit", code: "internal_error", message: "An internal error occurred", statusCode: 500 });
    expect(failure.cause).toBe(cause);
  });

  test("an aborted call rejects at once and leaves no listener", async () => {
    const { client, call } = over(() => new Promise(() => {}));
    const controller = new AbortController();
    const removed = vi.spyOn(controller.signal, "removeEventListener");
    const result = client.counter.get("a").action({ name: "x", signal: controller.signal }).catch((error: unknown) => error);
    await vi.waitFor(() => expect(call).toHaveBeenCalled());
    controller.abort("enough");
    expect(await result).toBe("enough");
    expect(removed).toHaveBeenCalled();
  });

  test("sends and gateway URLs are typed refusals for now", async () => {
    const handle = over(async () => ({ actorId: "id" })).client.counter.get("a");
    await expect(handle.send("q", 1)).rejects.toMatchObject({ group: "feature", code: "unsupported", statusCode: 501 });
    await expect(handle.getGatewayUrl()).rejects.toMatchObject({ group: "feature", code: "unsupported" });
  });

  test("a call that may not leave does not: what the port throws is the caller's", async () => {
    const refused = new ActorError("storage", "full", "full");
    await expect(over(() => Promise.reject(refused)).client.counter.get("a").x()).rejects.toBe(refused);
  });
});
