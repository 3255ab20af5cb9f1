// Connections of the published client. Each case opens its own, and disposes of them.
import assert from "node:assert/strict";
import { becomes, rejects } from "./judge.mjs";
import { showValue } from "./show-value.ts";

/** @typedef {import("./cases.mjs").Case} Case */

/**
 * A case with connections: `connect` opens one, and the end of the case disposes of all.
 *
 * @param {string} name
 * @typedef {import("./cases.mjs").Subject & { room: any, connect: (params?: unknown, handle?: any) => any }} WithRoom
 * @param {(subject: WithRoom) => Promise<unknown>} run
 * @returns {Case}
 */
function connectionCase(name, run) {
  return {
    name: `connection: ${name}`,
    async run(subject) {
      const room = subject.client.room.getOrCreate(subject.key);
      /** @type {any[]} */
      const opened = [];
      const connect = (/** @type {unknown} */ params, handle = room) => {
        const connection = handle.connect(params);
        opened.push(connection);
        return connection;
      };
      try {
        await run({ ...subject, room, connect });
      } finally {
        await Promise.all(opened.map((connection) => connection.dispose()));
      }
    },
  };
}

/**
 * @param {any} connection
 * @param {string} status
 */
function reached(connection, status) {
  return new Promise((resolve) => {
    if (connection.connStatus === status) return resolve(undefined);
    const end = connection.onStatusChange((/** @type {string} */ now) => {
      if (now !== status) return;
      end();
      resolve(undefined);
    });
  });
}

/** @type {readonly Case[]} */
export const CONNECTION_CASES = [
  connectionCase("actions over the socket, nested and explicit", async ({ connect, key }) => {
    const connection = connect();
    assert.equal(await connection.echo(1), 1);
    assert.equal(await connection.users.count(), 1);
    assert.equal(await connection.action({ name: "echo", args: [key] }), key);
  }),
  connectionCase("values in both directions", async ({ connect, encoding }) => {
    const value = {
      big: 2n ** 70n,
      bytes: new Uint8Array([1, 255]),
      list: ["$x", 1],
      text: "é\u0000",
      nothing: null,
      ...(encoding !== "json" && { at: new Date(5), map: new Map([[1, new Set(["a"])]]), missing: undefined }),
    };
    assert.equal(showValue(await connect().echo(value)), showValue(value));
  }),
  connectionCase("an action's error: code, message, metadata", async ({ connect }) => {
    const connection = connect();
    const error = await rejects(connection.refuse(), "user", "no", /^No$/);
    assert.deepEqual(error.metadata, { why: ["rules"] });
    await rejects(connection.nothing(), "actor", "action_not_found");
    assert.equal(await connection.echo(2), 2);
  }),
  connectionCase("actions made before it is open are sent in their order", async ({ connect }) => {
    const connection = connect();
    assert.deepEqual(await Promise.all([connection.say("a"), connection.say("b"), connection.say("c")]), [1, 2, 3]);
  }),
  connectionCase("on, several listeners, and their end", async ({ connect, room }) => {
    const connection = connect({ name: "ann" });
    /** @type {unknown[]} */
    const heard = [];
    const ends = [
      connection.on("said", (/** @type {unknown[]} */ ...args) => heard.push(args)),
      connection.on("said", (/** @type {string} */ who) => heard.push(who)),
    ];
    await connection.say("one");
    await room.say("two");
    await connection.echo(0);
    assert.deepEqual(heard.splice(0), [["ann", "one"], "ann", ["nobody", "two"], "nobody"]);
    ends[0]();
    await connection.say("three");
    assert.deepEqual(heard.splice(0), ["ann"]);
    ends[1]();
    await connection.say("four");
    await connection.echo(0);
    assert.deepEqual(heard, []);
  }),
  connectionCase("once", async ({ connect }) => {
    const connection = connect();
    /** @type {unknown[]} */
    const heard = [];
    connection.once("said", (/** @type {string} */ _who, /** @type {string} */ text) => heard.push(text));
    await connection.say("one");
    await connection.say("two");
    await connection.echo(0);
    assert.deepEqual(heard, ["one"]);
  }),
  connectionCase("events that the actor sends in onConnect", async ({ connect }) => {
    const connection = connect({ name: "ann" });
    const welcome = new Promise((resolve) => connection.on("welcome", resolve));
    assert.deepEqual(await welcome, { name: "ann" });
  }),
  connectionCase("events between two of them", async ({ connect }) => {
    const [ann, bob] = [connect({ name: "ann" }), connect({ name: "bob" })];
    const heard = new Promise((resolve) => bob.on("said", (/** @type {unknown[]} */ ...args) => resolve(args)));
    await bob.echo(0);
    await ann.say("hello");
    assert.deepEqual(await heard, ["ann", "hello"]);
    assert.deepEqual(await ann.who(), ["ann", "bob"]);
  }),
  connectionCase("params are the connection's", async ({ connect }) => {
    assert.deepEqual(await connect({ name: "ann", tags: ["é", 1] }).params(), { name: "ann", tags: ["é", 1] });
    assert.equal(await connect().params(), undefined);
  }),
  connectionCase("status, onOpen, onClose", async ({ connect }) => {
    const connection = connect();
    /** @type {string[]} */
    const log = [];
    assert.ok(["idle", "connecting"].includes(connection.connStatus));
    connection.onStatusChange((/** @type {string} */ status) => log.push(status));
    connection.onOpen(() => log.push("open"));
    connection.onClose(() => log.push("close"));
    await connection.ready;
    assert.equal(connection.connStatus, "connected");
    assert.equal(connection.isConnected, true);
    const late = new Promise((resolve) => connection.onOpen(() => resolve("open")));
    assert.equal(await late, "open");
    await connection.dispose();
    await reached(connection, "idle");
    assert.deepEqual(log.filter((line) => !["connecting", "disconnected"].includes(line)).toSorted(), [
      "close",
      "connected",
      "idle",
      "open",
    ]);
  }),
  connectionCase(
    "a lost one comes back, subscribed; what was sent rejects, what waits is sent",
    async ({ connect, room }) => {
      const connection = connect({ name: "ann" });
      /** @type {unknown[]} */
      const heard = [];
      connection.on("said", (/** @type {string} */ _who, /** @type {string} */ text) => heard.push(text));
      await connection.say("before");
      const sent = connection.never().then(
        () => "answered",
        (/** @type {unknown} */ error) => error,
      );
      await connection.echo(0);
      const isLost = reached(connection, "disconnected");
      await room.drop("ann");
      await isLost;
      const waiting = connection.say("while it was lost");
      assert.ok((await sent) instanceof Error);
      assert.equal(await waiting, 2);
      await connection.echo(0);
      assert.deepEqual(heard, ["before", "while it was lost"]);
      assert.deepEqual(await room.ends(), ["ann 1000 dropped"]);
    },
  ),
  connectionCase("getParams is asked at each attempt", async ({ client, connect, key, room }) => {
    let asked = 0;
    const connection = connect(
      undefined,
      client.room.getOrCreate(key, { getParams: async () => ({ name: "ann", token: (asked += 1) }) }),
    );
    assert.deepEqual(await connection.params(), { name: "ann", token: 1 });
    const isLost = reached(connection, "disconnected");
    await room.drop("ann");
    await isLost;
    assert.deepEqual(await connection.params(), { name: "ann", token: 2 });
  }),
  connectionCase("getParams that fails is an error, and is asked again", async ({ client, connect, key }) => {
    let asked = 0;
    const getParams = async () => {
      asked += 1;
      if (asked === 1) throw new Error("offline");
      return { name: "ann" };
    };
    const connection = connect(undefined, client.room.getOrCreate(key, { getParams }));
    const error = new Promise((resolve) => connection.onError(resolve));
    assert.equal(/** @type {any} */ (await error).code, "get_params_failed");
    await reached(connection, "connected");
    assert.deepEqual(await connection.params(), { name: "ann" });
  }),
  connectionCase("refused by onBeforeConnect: told, rejected, not tried again", async ({ connect, room }) => {
    const connection = connect({ name: "mallory" });
    /** @type {any[]} */
    const errors = [];
    connection.onError((/** @type {unknown} */ error) => errors.push(error));
    const error = await rejects(connection.echo(1), "user", "unwelcome", /^Not you$/);
    assert.deepEqual(error.metadata, { name: "mallory" });
    await reached(connection, "idle");
    assert.equal(errors[0]?.code, "unwelcome");
    assert.deepEqual(await room.who(), []);
  }),
  connectionCase("a get handle of nothing: actor/not_found", async ({ client, connect, key }) => {
    const connection = connect(undefined, client.room.get(key));
    await rejects(connection.echo(1), "actor", "not_found");
  }),
  connectionCase("a subscription that is forbidden", async ({ connect }) => {
    const connection = connect();
    const error = new Promise((resolve) => connection.onError(resolve));
    await connection.echo(0);
    connection.on("secret", () => {});
    assert.equal(/** @type {any} */ (await error).code, "forbidden");
  }),
  connectionCase("a subscription that is not declared leaves it open", async ({ connect }) => {
    const connection = connect();
    const error = new Promise((resolve) => connection.onError(resolve));
    connection.on("nothing", () => {});
    assert.equal(/** @type {any} */ (await error).code, "not_declared");
    assert.equal(await connection.echo(3), 3);
  }),
  connectionCase("a message that is too long: message/incoming_too_long", async ({ connect }) => {
    const connection = connect();
    await connection.echo(0);
    const isLost = reached(connection, "disconnected");
    await rejects(connection.echo("x".repeat(70_000)), "message", "incoming_too_long");
    await isLost;
    assert.equal(await connection.echo("short"), "short");
  }),
  connectionCase("a result that is too long: message/outgoing_too_long", async ({ connect }) => {
    const connection = connect();
    await rejects(connection.long(1_100_000), "message", "outgoing_too_long");
    assert.equal(await connection.echo("short"), "short");
  }),
  connectionCase("an actor that was destroyed is found anew", async ({ connect }) => {
    const connection = connect();
    assert.equal(await connection.say("to the first"), 1);
    const isLost = reached(connection, "disconnected");
    await connection.end().catch(() => {});
    await isLost;
    assert.equal(await connection.say("to the second"), 1);
  }),
  connectionCase("send goes over HTTP", async ({ client, connect, key }) => {
    const connection = connect(undefined, client.worker.getOrCreate(key));
    assert.deepEqual(await connection.send("jobs", { v: 1 }, { wait: true, timeout: 5000 }), {
      status: "completed",
      response: { done: { v: 1 } },
    });
  }),
  connectionCase("dispose: pending actions reject, the server knows", async ({ connect, room }) => {
    const connection = connect({ name: "ann" });
    await connection.echo(0);
    const pending = connection.never().then(
      () => undefined,
      (/** @type {any} */ error) => error.constructor.name,
    );
    await connection.dispose();
    assert.equal(await pending, "ActorConnDisposed");
    await becomes(() => room.ends(), ["ann 1000 Disposed"]);
    assert.deepEqual(await room.who(), []);
  }),
];
