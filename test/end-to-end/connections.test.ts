import { createClient, type ActorConn, type ActorConnStatus } from "perdure/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../scripts/demo-server.mjs";
import { FixtureServer } from "./fixture-server.js";
import type { registry } from "./fixtures/actors.js";

// Over a real network, with the WebSocket of Node.

type Board = ActorConn<(typeof registry)["config"]["use"]["board"]>;

let server: FixtureServer;
beforeAll(async () => {
  server = await FixtureServer.start();
});
afterAll(async () => {
  await server?.stop();
});

function reached(connection: Board, wanted: ActorConnStatus): Promise<void> {
  return new Promise((resolve) => {
    const end = connection.onStatusChange((status) => {
      if (status !== wanted) return;
      end();
      resolve();
    });
  });
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no error",
    (error: unknown) => error,
  );

test.concurrent("a wrong endpoint is said to be one, and is not asked for ever", async () => {
  const connection = createClient<typeof registry>(`http://localhost:${await freePort()}`)
    .board.getOrCreate("nowhere")
    .connect();
  const errors: unknown[] = [];
  connection.onError((error) => errors.push(error));
  expect(await failureOf(connection.note("x"))).toMatchObject({
    group: "client",
    code: "connection_open_failed",
    message: expect.stringContaining("Is the server running there?"),
  });
  expect([errors.length, connection.connStatus]).toEqual([6, "idle"]);
});

describe.each(["json", "cbor", "bare"] as const)("a connection in %s", (encoding) => {
  test.concurrent("calls, hears, and is refused", async () => {
    const client = createClient<typeof registry>({ endpoint: server.url, encoding });
    const [one, other] = [
      client.board.getOrCreate(encoding).connect(),
      client.board.getOrCreate(encoding).connect({ name: "other" }),
    ];
    const heard: unknown[] = [];
    const isHeard = new Promise<void>((resolve) =>
      other.on("noted", (number, text) => resolve(void heard.push([number, text]))),
    );
    await other.echo(1);
    expect(await one.note("first")).toBe(1);
    await isHeard;
    const value = {
      at: new Date(5),
      big: 1n,
      bytes: new Uint8Array([1, 255]),
      map: new Map([["a", new Set([undefined])]]),
    };
    expect([heard, await one.echo(value)]).toEqual([[[1, "first"]], value]);
    const refused = client.board.getOrCreate(encoding).connect({ name: "mallory" });
    expect(await failureOf(refused.note("x"))).toMatchObject({ group: "user", code: "unwelcome", message: "Not you" });
    await client.dispose();
    expect([one, other, refused].map(({ connStatus }) => connStatus)).toEqual(["idle", "idle", "idle"]);
  });
});

test.concurrent.each(["json", "cbor", "bare"] as const)(
  "a Worker connects to another over the network as anybody would (%s)",
  async (encoding) => {
    const { traveller } = createClient<typeof registry>(server.url);
    expect(await traveller.getOrCreate("marco").visit(server.url, encoding, `visited in ${encoding}`)).toEqual({
      number: 1,
      echoed: new Map([[1n, new Set([new Date(5), undefined])]]),
      heard: [1, "was here"],
      refused: "unwelcome",
    });
  },
);

test("a connection survives the server: it subscribes again, sends what waits, and repeats nothing", async () => {
  const connection = createClient<typeof registry>(server.url).board.getOrCreate("killed").connect();
  const heard: unknown[] = [];
  connection.on("noted", (number, text) => heard.push([number, text]));
  await connection.note("before");
  const cutOff = failureOf(connection.hold());
  await connection.echo(1);
  const isDown = reached(connection, "disconnected");
  await server.dev.kill();
  await isDown;
  expect(await cutOff).toMatchObject({ group: "client", code: "connection_closed" });
  const waiting = connection.note("while it was down");
  await server.dev.start();
  connection.reconnect();
  expect(await waiting).toBe(2);
  await connection.echo(2);
  expect(heard).toEqual([
    [1, "before"],
    [2, "while it was down"],
  ]);
  await connection.dispose();
});
