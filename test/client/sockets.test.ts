import { describe, expect, test, vi } from "vitest";
import { createBindingTransport, createClientWithTransport, type ActorBinding } from "../../src/client/binding.js";
import { createClient, type ClientConfig, type ClientSocket } from "../../src/client/index.js";
import { holdSocket } from "../../src/client/internal.js";
import { ActorError, decodeValue, encodeValue, parseSubprotocols } from "../../src/protocol/index.js";
import { settle } from "./fake-sockets.js";

const ID = `${"a".repeat(64)}-0011223344556677`;

type Opened = { url: URL; protocols: string[]; socket: { binaryType: string } };

/** A client whose sockets go nowhere. */
function clientOf(config: ClientConfig = {}) {
  const opened: Opened[] = [];
  class Socket implements ClientSocket {
    binaryType = "blob";
    readyState = 0;
    constructor(url: string, protocols: string[]) {
      opened.push({ url: new URL(url), protocols, socket: this });
    }
    send(): void {}
    close(): void {}
    addEventListener(): void {}
  }
  return { client: createClient<any>({ webSocket: Socket, ...config }), opened };
}

describe("a connection's socket", () => {
  test("is opened at the gateway; token and params are subprotocols, not in the URL", async () => {
    const { client, opened } = clientOf({
      endpoint: "https://host.test/base/",
      token: "hush",
      encoding: "json",
      gateway: { skipReadyWait: true },
    });
    client.chat
      .getOrCreate(["a,b", "c/d"], { createWithInput: 5, createInRegion: "weur", params: { secret: "é)" } })
      .connect();
    // The codec of its input is loaded first.
    await vi.waitFor(() => expect(opened).toHaveLength(1));
    client.chat.get("a").connect();
    client.chat.getForId(ID).connect();
    await settle();
    expect(opened.map(({ url }) => url.origin + url.pathname)).toEqual([
      "wss://host.test/base/gateway/chat/connect",
      "wss://host.test/base/gateway/chat/connect",
      `wss://host.test/base/gateway/${ID}/connect`,
    ]);
    expect(opened.map(({ url }) => Object.fromEntries(url.searchParams))).toEqual([
      {
        "rvt-namespace": "default",
        "rvt-method": "getOrCreate",
        "rvt-key-json": '["a,b","c/d"]',
        "rvt-skip-ready-wait": "true",
        "rvt-region": "weur",
        "rvt-input": "BQ",
      },
      { "rvt-namespace": "default", "rvt-method": "get", "rvt-key-json": '["a"]', "rvt-skip-ready-wait": "true" },
      { "rvt-skip-ready-wait": "true" },
    ]);
    expect(opened[0]?.protocols.slice(0, 2)).toEqual(["rivet", "rivet_encoding.json"]);
    expect(parseSubprotocols(opened[0]?.protocols.join(", ") ?? "")).toEqual({
      encoding: "json",
      token: "hush",
      params: '{"secret":"é)"}',
      isOwnClient: true,
      pings: true,
      actorId: undefined,
      others: [],
    });
    expect(opened[1]?.protocols.some((protocol) => protocol.startsWith("rivet_conn_params"))).toBe(false);
    expect(opened.every(({ socket }) => socket.binaryType === "arraybuffer")).toBe(true);
  });

  test("keeps every kind of value in its params", async () => {
    const { client, opened } = clientOf();
    client.chat.getOrCreate("a").connect({ n: 1n });
    await settle();
    expect(parseSubprotocols(opened[0]?.protocols.join(", ") ?? "").params).toBe('{"n":["$BigInt","1"]}');
  });

  test("is not opened with an input that no URL carries, or with params over 4 KiB", async () => {
    const { client, opened } = clientOf({ maxInputSize: 10 });
    await expect(
      client.chat.getOrCreate("a", { createWithInput: "x".repeat(20) }).connect().ready,
    ).rejects.toMatchObject({ group: "client", code: "input_too_large", statusCode: 413 });
    await expect(client.chat.getOrCreate("a").connect("x".repeat(4095)).ready).rejects.toMatchObject({
      group: "request",
      code: "too_large",
      metadata: { limitBytes: 4096 },
    });
    expect(opened).toEqual([]);
    client.chat.getOrCreate("a").connect("x".repeat(4094));
    await settle();
    expect(opened).toHaveLength(1);
  });

  test("cannot be opened where there is no WebSocket, which says what to do", async () => {
    vi.stubGlobal("WebSocket", undefined);
    try {
      const connection = createClient<any>().chat.getOrCreate("a").connect();
      await expect(connection.ready).rejects.toMatchObject({
        group: "client",
        code: "no_web_socket",
        statusCode: 501,
        message: expect.stringContaining("createClient({ webSocket })"),
      });
      expect(connection.connStatus).toBe("idle");
    } finally {
      vi.unstubAllGlobals();
    }
  });
});

describe("a raw socket", () => {
  test.each([
    [undefined, "/gateway/chat/websocket/", ""],
    ["", "/gateway/chat/websocket/", ""],
    ["p?y=2", "/gateway/chat/websocket/p", "y=2"],
    ["/a/b%2Fc?x=1&x=2#hash", "/gateway/chat/websocket/a/b%2Fc", "x=1&x=2"],
    ["../../action/x", "/gateway/chat/websocket/action/x", ""],
    ["a/%2e%2e/%2e%2e/x", "/gateway/chat/websocket/x", ""],
    ["http://evil.test/x", "/gateway/chat/websocket/http://evil.test/x", ""],
    ["//evil.test", "/gateway/chat/websocket/evil.test", ""],
  ])("to %j lies below the actor, and keeps its query", async (path, pathname, query) => {
    const { client, opened } = clientOf();
    await client.chat.get("k").webSocket(path);
    const { url } = opened[0] as Opened;
    expect([url.host, url.pathname]).toEqual(["localhost:6420", pathname]);
    expect(url.search).toBe(
      `?${query === "" ? "" : `${query}&`}rvt-namespace=default&rvt-method=get&rvt-key-json=%5B%22k%22%5D`,
    );
  });

  test("of an id has the user's query only", async () => {
    const { client, opened } = clientOf();
    await client.chat.getForId(ID).webSocket("p?y=2");
    await client.chat.getForId(ID).webSocket();
    expect(opened.map(({ url }) => url.pathname + url.search)).toEqual([
      `/gateway/${ID}/websocket/p?y=2`,
      `/gateway/${ID}/websocket/`,
    ]);
  });

  test("is the platform's own, with the user's protocols and params", async () => {
    const { client, opened } = clientOf();
    const handle = client.chat.getOrCreate("k", { params: "handle's", getParams: async () => "asked" });
    const socket = await handle.webSocket("p", ["chat", "v2"]);
    await handle.webSocket("p", "chat", { params: "given" });
    await handle.webSocket("p", [], { getParams: () => "asked here" });
    expect(opened[0]?.socket).toBe(socket);
    expect(socket.binaryType).toBe("arraybuffer");
    expect(
      opened
        .map(({ protocols }) => parseSubprotocols(protocols.join(",")))
        .map(({ others, params }) => [others, params]),
    ).toEqual([
      [["chat", "v2"], '"asked"'],
      [["chat"], '"given"'],
      [[], '"asked here"'],
    ]);
  });

  test("of a handle that was aborted is not opened", async () => {
    const { client, opened } = clientOf();
    await expect(client.chat.get("k", { signal: AbortSignal.abort("enough") }).webSocket()).rejects.toBe("enough");
    expect(opened).toEqual([]);
  });
});

describe("a socket over a binding", () => {
  /** A binding that answers an upgrade with a socket, or as the test wants. */
  function over(answer?: () => Promise<never>) {
    const log: string[] = [];
    const socket = {
      binaryType: "blob",
      readyState: 1,
      accept: () => log.push("accept"),
      send: (data: unknown) => log.push(`send ${String(data)}`),
      close() {},
      addEventListener() {},
    };
    const openSocket = vi.fn<ActorBinding["openSocket"]>(answer ?? (async () => socket as never));
    const binding: ActorBinding = {
      call: async () => ({ actorId: "id" }),
      send: async () => ({ status: "completed" }),
      openSocket,
      fetch: async () => new Response(),
      beforeSend: () => log.push("commit"),
    };
    return { client: createClientWithTransport(createBindingTransport(binding)), openSocket, socket, log };
  }

  test("is asked for with params and input as bytes, accepted, and sends only after what is dirty was committed", async () => {
    const { client, openSocket, socket, log } = over();
    client.chat.getOrCreate("k", { createWithInput: 5, createInRegion: "weur", params: 1n }).connect();
    await settle();
    const [{ target, operation, params }] = openSocket.mock.calls[0] as Parameters<ActorBinding["openSocket"]>;
    expect(target).toEqual({
      name: "chat",
      key: ["k"],
      creation: { mode: "getOrCreate", input: encodeValue(5) },
      region: "weur",
    });
    expect([operation, decodeValue(params ?? new Uint8Array())]).toEqual([
      { kind: "connect", encoding: "cbor", extended: true },
      1n,
    ]);
    expect(socket.binaryType).toBe("arraybuffer");
    socket.send("hello");
    expect(log).toEqual(["accept", "commit", "send hello"]);
  });

  test("that is raw has the path, the query and the protocols of the user", async () => {
    const { client, openSocket, socket, log } = over();
    const raw = await client.chat.get("k").webSocket("../p?y=2", ["chat", "v2"], { params: "given" });
    await client.chat.get("k").webSocket();
    expect(openSocket.mock.calls.map(([{ operation, request }]) => [operation, request])).toEqual([
      [
        { kind: "connect", encoding: "cbor", extended: true, raw: true },
        { method: "GET", url: "http://actor/websocket/p?y=2", headers: [["sec-websocket-protocol", "chat, v2"]] },
      ],
      [
        { kind: "connect", encoding: "cbor", extended: true, raw: true },
        { method: "GET", url: "http://actor/websocket", headers: [] },
      ],
    ]);
    expect(raw).toBe(socket);
    raw.send("hello");
    expect(log.slice(-2)).toEqual(["commit", "send hello"]);
  });

  test("that is refused says why", async () => {
    const refused = new ActorError("actor", "not_found", "There is no such actor.");
    const { client, openSocket } = over(() => Promise.reject(refused));
    await expect(client.chat.get("k").connect().ready).rejects.toBe(refused);
    expect(openSocket).toHaveBeenCalledTimes(1);
    await expect(
      over(() => Promise.reject(new Error("a secret")))
        .client.chat.get("k")
        .connect().ready,
    ).rejects.toMatchObject({ group: "rivetkit", code: "internal_error" });
  });
});

describe("a socket that is held", () => {
  function held() {
    const listeners = new Map<string, (event: never) => void>();
    const closes: unknown[][] = [];
    const socket = {
      binaryType: "arraybuffer",
      readyState: 1,
      send: vi.fn<(data: unknown) => void>(),
      close(...args: unknown[]) {
        closes.push(args);
        throw new Error("closed already");
      },
      addEventListener: (type: string, listener: (event: never) => void) => void listeners.set(type, listener),
    };
    const heard: unknown[] = [];
    const holding = holdSocket(socket, {
      onMessage: (data) => heard.push(data),
      onClose: (code, reason) => heard.push([code, reason]),
    });
    const emit = (type: string, event: object = {}): void => listeners.get(type)?.(event as never);
    return { holding, socket, heard, emit, closes };
  }

  test("gives text and bytes, and one end", () => {
    const { heard, emit, closes } = held();
    const bytes = new ArrayBuffer(2);
    emit("message", { data: "text" });
    emit("message", { data: bytes });
    emit("message", { data: { a: "Blob" } });
    emit("close", { code: 1011, reason: "why" });
    emit("message", { data: "late" });
    emit("error");
    expect(heard).toEqual(["text", bytes, [1011, "why"]]);
    expect(closes).toEqual([[undefined, undefined]]);
  });

  test("takes an error for an end, where no close follows", () => {
    const { heard, emit } = held();
    emit("error");
    emit("close", { code: 1006, reason: "" });
    expect(heard).toEqual([[1006, ""]]);
  });

  test("that was let go of gives nothing more, and throws nothing", () => {
    const { holding, socket, heard, emit, closes } = held();
    socket.send.mockImplementationOnce(() => {
      throw new Error("closing");
    });
    holding.send("x");
    holding.close(1000, "Disposed");
    emit("message", { data: "late" });
    emit("close", { code: 1000, reason: "" });
    expect([heard, closes[0]]).toEqual([[], [1000, "Disposed"]]);
  });
});
