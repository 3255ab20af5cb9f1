import { describe, expect, test } from "vitest";
import { createClient } from "../../src/client/index.js";
import { codecOf, createHttpTransport, onceLoaded, resolveConfig } from "../../src/client/internal.js";
import { decodeTaggedCbor, parseBase64, wireCodec, type Encoding, type WireCodec } from "../../src/protocol/index.js";
import { fakeSockets, settle } from "./fake-sockets.js";

// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;
const BINARY = ["cbor", "bare"] as const satisfies Encoding[];

/** A client that has loaded nothing yet, and the bodies it sends. */
function clientIn(encoding: Encoding) {
  const sent: { url: URL; body: Uint8Array }[] = [];
  const headers: Headers[] = [];
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    sent.push({ url: new URL(String(url)), body: new Uint8Array(init?.body as Uint8Array<ArrayBuffer>) });
    headers.push(new Headers(init?.headers));
    const { actionResponse, queueSendResponse } = wireCodec(encoding);
    return new Response(
      String(url).includes("/queue/")
        ? queueSendResponse.encode({ status: "completed" })
        : actionResponse.encode({ output: "done" }),
    );
  };
  return { client: createClient<Any>({ endpoint: "http://host.test", encoding, fetch }), sent, headers };
}

describe.each(BINARY)("a client in %s, whose codec is loaded on demand,", (encoding) => {
  const codec = wireCodec(encoding);

  test("sends what an action was called with, whatever its caller does to it meanwhile", async () => {
    const { client, sent } = clientIn(encoding);
    const list: unknown[] = [1, new Date(0), new Map([["a", 2n]])];
    const call = client.chat.get("a").push(list);
    list.push("later");
    expect(await call).toBe("done");
    expect(codec.actionRequest.decode(sent[0]?.body ?? new Uint8Array())).toEqual({
      args: [[1, new Date(0), new Map([["a", 2n]])]],
    });
  });

  test("sends messages in the order of the sends", async () => {
    const { client, sent } = clientIn(encoding);
    const handle = client.chat.get("a");
    await Promise.all([handle.send("jobs", { n: 1 }), handle.send("jobs", { n: 2 })]);
    expect(sent.map(({ body: bytes }) => codec.queueSendRequest.decode(bytes).body)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test("refuses at once what no encoding carries", async () => {
    const { client, sent } = clientIn(encoding);
    await expect(client.chat.get("a").push(() => 1)).rejects.toMatchObject({ code: "not_serializable" });
    expect(sent).toEqual([]);
  });

  test("sends calls over a socket as they were made, in their order, though they were made before it was loaded", async () => {
    let give = (_codec: WireCodec): void => {};
    const later = codecOf(encoding, () => new Promise((resolve) => (give = resolve)));
    const world = fakeSockets({ encoding, codec: later });
    const connection = world.client.chat.get("a").connect();
    const list = [1];
    const calls = [connection.first(list), connection.second(list)];
    list.push(2);
    await settle();
    give(codec);
    await settle();
    world.socket.init();
    calls.push(connection.third(list));
    expect(world.socket.sent).toEqual(["0 first [[1]]", "1 second [[1]]", "2 third [[1,2]]"]);
    for (const id of [0, 1, 2]) world.socket.answer(id, id);
    expect(await Promise.all(calls)).toEqual([0, 1, 2]);
  });
});

test.each(["json", "cbor"] as const)("params in %s are those that the handle had at the call", async (encoding) => {
  const { client, headers } = clientIn(encoding);
  const params = { n: 1 };
  const handle = client.chat.getOrCreate("a", { params, createWithInput: 1 });
  const calls = [handle.push(1), handle.send("jobs", 1), client.chat.create("a", { params, input: 1 }).catch(() => {})];
  params.n = 2;
  await Promise.all(calls);
  expect(headers.map((each) => each.get("x-rivet-conn-params"))).toEqual(['{"n":1}', '{"n":1}', '{"n":1}']);
});

test("a raw request whose input is encoded first has the bytes that its body had at the call", async () => {
  const { client, sent } = clientIn("json");
  const body = new Uint8Array([1, 2, 3]);
  const call = client.chat.getOrCreate("a", { createWithInput: 1 }).fetch("/x", { method: "POST", body });
  body[0] = 9;
  await call;
  expect(sent.map((each) => [...each.body])).toEqual([[1, 2, 3]]);
});

test("a call whose signal fires while the codec loads ends at once, and is not sent", async () => {
  let give = (_codec: WireCodec): void => {};
  const codec = codecOf("cbor", () => new Promise((resolve) => (give = resolve)));
  let sent = 0;
  const fetch = async (): Promise<Response> => {
    sent += 1;
    return new Response();
  };
  const config = resolveConfig({
    endpoint: "http://host.test",
    encoding: "cbor",
    fetch,
    webSocket: WebSocket as never,
  });
  const transport = createHttpTransport(config, undefined, codec);
  const controller = new AbortController();
  const call = { target: { name: "chat", key: ["a"], mode: "get" }, signal: controller.signal } as const;
  const calls = [
    transport.action({ ...call, name: "push", args: [] }),
    transport.send({ ...call, queue: "jobs", body: 1, wait: false }),
    transport.openSocket({ ...call, route: { kind: "connect" } }),
  ].map((each) => each.catch((error: unknown) => error));
  controller.abort("enough");
  expect(await Promise.all(calls)).toEqual(["enough", "enough", "enough"]);
  give(wireCodec("cbor"));
  await settle();
  expect(sent).toBe(0);
});

test("a connection whose codec could not be loaded tries again, and sends what was called for meanwhile", async () => {
  const offline = onceLoaded("cbor", () => Promise.reject(new Error("offline")));
  const world = fakeSockets({ encoding: "cbor" });
  world.failures.push(
    ...(await Promise.all([offline(), offline()].map((load) => load.catch((error: unknown) => error)))),
  );
  const connection = world.client.chat.get("a").connect();
  const errors: string[] = [];
  connection.onError(({ code }: { code: string }) => errors.push(code));
  const call = connection.push(1);
  await world.pass(10_000);
  world.socket.init();
  expect(world.socket.sent).toEqual(["0 push [1]"]);
  world.socket.answer(0, "done");
  expect([await call, errors]).toEqual(["done", ["connection_open_failed", "connection_open_failed"]]);
});

test("an input is CBOR beside a call in JSON, as it was when it was called for", async () => {
  const { client, sent } = clientIn("json");
  const input = { n: 1 };
  const call = client.chat.getOrCreate("a", { createWithInput: input }).push(1);
  input.n = 2;
  await call;
  const bytes = parseBase64(
    (sent[0]?.url.searchParams.get("rvt-input") ?? "").replaceAll("-", "+").replaceAll("_", "/"),
  );
  expect(decodeTaggedCbor(bytes)).toEqual({ n: 1 });
});

test("a codec that could not be loaded is told as a network error, and asked for again at the next call", async () => {
  const codec = wireCodec("cbor");
  let tries = 0;
  const load = onceLoaded("cbor", async () => {
    tries += 1;
    if (tries === 1) throw new Error("offline");
    return codec;
  });
  const made = codecOf("cbor", load);
  await expect(made.load()).rejects.toMatchObject({ group: "client", code: "network_error" });
  expect(made.loaded).toBe(undefined);
  expect(await made.load()).toBe(codec);
  expect(made.loaded).toBe(codec);
  expect(tries).toBe(2);
});
