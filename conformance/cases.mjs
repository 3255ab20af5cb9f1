// What the published client must find when it talks to us. A case gets that client, in one encoding, and keys of its own.
import assert from "node:assert/strict";
import { CONNECTION_CASES } from "./connection-cases.mjs";
import { becomes, rejects } from "./judge.mjs";
import { REACT_CASES } from "./react-cases.mjs";
import { showValue } from "./show-value.ts";

/** @typedef {"json" | "cbor" | "bare"} Encoding */

/**
 * @typedef {object} Subject
 * @property {any} client the published client
 * @property {Encoding} encoding
 * @property {string} key a key that no other case has
 */

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {(subject: Subject) => Promise<unknown>} run
 * @property {string} [later] why it is not to pass yet
 * @property {(encoding: Encoding) => boolean} [changedBy] whether the value becomes another one by the published protocol itself
 */

/**
 * A value, and where the published client itself does not keep it: what it sends instead in an encoding, and what it
 * makes of the right answer.
 *
 * @type {[
 *   name: string,
 *   value: unknown,
 *   sent?: { json?: unknown, cbor?: unknown, bare?: unknown },
 *   read?: { cbor: unknown, bare: unknown },
 * ][]}
 */
const VALUES = [
  ["null", null],
  ["true", true],
  ["a number", 1.5],
  ["a large integer", 2 ** 53],
  ["-0", -0, { json: 0, cbor: 0, bare: 0 }],
  ["NaN", NaN, { json: null }],
  ["Infinity", Infinity, { json: null }],
  ["-Infinity", -Infinity, { json: null }],
  ["undefined", undefined, { json: null }],
  ["a bigint", 10n],
  ["a bigint of 80 bits", 2n ** 80n],
  ["a negative bigint", -(2n ** 63n)],
  ["text", 'é😀\u0000\n"\\'],
  ["a Date", new Date(5), { json: "1970-01-01T00:00:00.005Z" }],
  ["a Date before 1970", new Date(-86_400_001), { json: "1969-12-30T23:59:59.999Z" }],
  ["a RegExp", /a+/gi, { json: {} }],
  ["an Error", new Error("broken"), { json: {} }],
  ["a TypeError", new TypeError("broken"), { json: {} }, { cbor: new Error("broken"), bare: new Error("broken") }],
  ["an ArrayBuffer", new Uint8Array([1, 2]).buffer, { cbor: new Uint8Array([1, 2]) }],
  ["a Uint8Array", new Uint8Array([1, 2, 255])],
  ["a view of a larger buffer", new Uint8Array(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)],
  ["an Int16Array", new Int16Array([-1, 300]), { json: { 0: -1, 1: 300 } }],
  ["a Float64Array", new Float64Array([0.5, -1]), { json: { 0: 0.5, 1: -1 } }],
  ["a BigInt64Array", new BigInt64Array([-1n]), { json: { 0: -1n } }],
  ["a Map", new Map([["a", 1]]), { json: {} }],
  [
    "a Map with keys of any kind",
    new Map(
      /** @type {[unknown, unknown][]} */ ([
        [1, "one"],
        [{ x: 1 }, "object"],
      ]),
    ),
    { json: {} },
  ],
  ["a Set", new Set([1, "a"]), { json: {} }],
  ["an empty object", {}],
  ["an empty list", []],
  ["a list", [1, [2, [3]]]],
  ["a nested object", { a: { b: [{ c: null }] }, "with space": 1 }],
  ["an object with undefined", { a: undefined, b: 1 }, { json: { b: 1 } }],
  ["a list that looks like a tag", ["$x", 1]],
  ["a list that looks like our tag", ["$Date", 5]],
  ["a list that looks escaped", ["$$x", [["$Set", []]]]],
  [
    "kinds within kinds",
    { list: [new Map([["set", new Set([1n])]])], at: new Date(9) },
    { json: { list: [{}], at: "1970-01-01T00:00:00.009Z" } },
  ],
  ["20,000 characters", "x".repeat(20_000)],
];

/** @type {Case[]} */
const VALUE_CASES = VALUES.map(([name, value, sent = {}, read]) => ({
  name: `value: ${name}`,
  changedBy: (encoding) => encoding in sent || (read !== undefined && encoding in read),
  async run({ client, encoding, key }) {
    const arriving = encoding in sent ? sent[encoding] : value;
    const returning = read !== undefined && encoding !== "json" ? read[encoding] : arriving;
    const handle = client.values.getOrCreate(key);
    assert.equal(await handle.show(value), showValue(arriving), "as the server got it");
    assert.equal(showValue(await handle.echo(value)), showValue(returning), "as it came back");
  },
}));

/** @type {Case[]} */
const ANSWER_CASES = [
  {
    // In JSON the client sends no Set, but knows the tag for one.
    name: "answer: a Set, in any encoding",
    run: async ({ client, key }) =>
      assert.deepEqual(await client.values.getOrCreate(key).make("set"), new Set([1n, "a"])),
  },
  {
    // `encodeTaggedCbor` writes it as 0 to all but our own client.
    name: "answer: -0",
    changedBy: () => true,
    run: async ({ client, key }) =>
      assert.equal(showValue(await client.values.getOrCreate(key).make("minusZero")), "0"),
  },
  {
    name: "answer: undefined within an object",
    run: async ({ client, key }) =>
      assert.deepEqual(await client.values.getOrCreate(key).make("fields"), { a: undefined, b: [undefined, null] }),
  },
  {
    name: "answer: nothing",
    run: async ({ client, key }) => assert.equal(await client.values.getOrCreate(key).echo(), undefined),
  },
];

/** @type {Case[]} */
const ACCESSOR_CASES = [
  {
    name: "getOrCreate twice is one actor",
    async run({ client, key }) {
      assert.equal(await client.counter.getOrCreate(key).increment(2), 2);
      assert.equal(await client.counter.getOrCreate([key]).increment(3), 5);
      assert.equal(await client.getOrCreate("counter", key).getCount(), 5);
    },
  },
  {
    name: "getOrCreate with input",
    async run({ client, key }) {
      assert.equal(await client.counter.getOrCreate(key, { createWithInput: { start: 7 } }).getCount(), 7);
      assert.equal(await client.counter.getOrCreate(key, { createWithInput: { start: 9 } }).getCount(), 7);
    },
  },
  {
    name: "getOrCreate in a region",
    run: async ({ client, key }) =>
      assert.equal(await client.counter.getOrCreate(key, { createInRegion: "weur" }).getCount(), 0),
  },
  {
    name: "keys of several parts",
    async run({ client, key }) {
      assert.deepEqual(await client.counter.getOrCreate([key, "b"]).getKey(), [key, "b"]);
      assert.equal(await client.counter.getOrCreate([key, "b"]).increment(1), 1);
      assert.equal(await client.counter.getOrCreate([key]).getCount(), 0);
      assert.deepEqual(await client.counter.getOrCreate([key, "é\n%/\\"]).getKey(), [key, "é\n%/\\"]);
    },
  },
  {
    name: "get finds what exists",
    async run({ client, key }) {
      await client.counter.getOrCreate(key).increment(4);
      assert.equal(await client.counter.get(key).getCount(), 4);
      assert.equal(await client.get("counter", [key]).getCount(), 4);
    },
  },
  {
    name: "get of nothing: actor/not_found",
    run: ({ client, key }) => rejects(client.counter.get(key).getCount(), "actor", "not_found"),
  },
  {
    name: "resolve of nothing: actor/not_found",
    run: ({ client, key }) => rejects(client.counter.get(key).resolve(), "actor", "not_found"),
  },
  {
    name: "create, then use",
    async run({ client, key }) {
      const handle = await client.counter.create(key, { input: { start: 3 } });
      assert.equal(await handle.increment(1), 4);
      assert.equal(await client.counter.get(key).getCount(), 4);
      assert.equal(await handle.resolve(), await client.counter.get(key).resolve());
    },
  },
  {
    name: "create twice: actor/duplicate_key",
    async run({ client, key }) {
      await client.counter.create(key);
      await rejects(client.counter.create(key), "actor", "duplicate_key");
      await rejects(client.create("counter", [key]), "actor", "duplicate_key");
    },
  },
  {
    name: "resolve is the actor's id, the same by every way",
    async run({ client, key }) {
      const id = await client.counter.getOrCreate(key).resolve();
      assert.equal(await client.counter.getOrCreate(key).getId(), id);
      assert.equal(await client.counter.get([key]).resolve(), id);
      assert.equal(await client.counter.getForId(id).resolve(), id);
    },
  },
  {
    name: "resolve and action agree on a key with separators",
    async run({ client, key }) {
      const id = await client.counter.getOrCreate([key, "a/b\\c"]).resolve();
      assert.equal(await client.counter.get([key, "a/b\\c"]).getId(), id);
    },
  },
  {
    name: "getForId",
    async run({ client, key }) {
      const id = await client.counter.getOrCreate(key).resolve();
      assert.equal(await client.counter.getForId(id).increment(6), 6);
      assert.equal(await client.getForId("counter", id).getCount(), 6);
    },
  },
  {
    name: "getForId of nothing: actor/not_found",
    async run({ client, key }) {
      const id = await client.counter.getOrCreate(key).resolve();
      await rejects(client.counter.getForId(`${id.slice(0, -16)}0011223344556677`).getCount(), "actor", "not_found");
    },
  },
  {
    name: "a destroyed actor: its id is gone, its key begins anew",
    async run({ client, key }) {
      const handle = client.counter.getOrCreate(key);
      await handle.increment(5);
      const id = await handle.resolve();
      await handle.end();
      await rejects(client.counter.getForId(id).getCount(), "actor", "not_found");
      assert.equal(await handle.getCount(), 0);
      assert.notEqual(await client.counter.get(key).resolve(), id);
    },
  },
  {
    name: "getGatewayUrl serves the actor's routes",
    async run({ client, key }) {
      const url = new URL(await client.counter.getOrCreate(key).getGatewayUrl());
      url.pathname += "/action/increment";
      const response = await fetch(url, { method: "POST", body: '{"args":[2]}' });
      assert.deepEqual(await response.json(), { output: 2 });
    },
  },
  {
    name: "an actor that is not registered: actor/not_registered",
    run: ({ client, key }) => rejects(client.nobody.getOrCreate(key).x(), "actor", "not_registered"),
  },
];

/** @type {Case[]} */
const ACTION_CASES = [
  {
    name: "nested actions",
    async run({ client, key }) {
      const handle = client.values.getOrCreate(key);
      assert.equal(await handle.users.add("ann", 5), "ann is 5");
      assert.deepEqual(await handle.users.list.all(), ["ann"]);
    },
  },
  {
    name: "action({ name, args }), and an action of that name",
    async run({ client, key }) {
      const handle = client.values.getOrCreate(key);
      assert.equal(await handle.action({ name: "users.add", args: ["bob", 6] }), "bob is 6");
      assert.equal(await handle.action({ name: "action", args: ["x"] }), "action x");
    },
  },
  {
    name: "any number of arguments",
    async run({ client, key }) {
      const handle = client.values.getOrCreate(key);
      assert.deepEqual(
        [await handle.count(), await handle.count(1, null), await handle.count(...Array(50).keys())],
        [0, 2, 50],
      );
    },
  },
  {
    name: "an unknown action: actor/action_not_found",
    async run({ client, key }) {
      await rejects(client.values.getOrCreate(key).nothing(), "actor", "action_not_found", /nothing/);
      await rejects(client.values.getOrCreate(key).constructor2.call2(), "actor", "action_not_found");
    },
  },
  {
    name: "inherited names are no actions",
    async run({ client, key }) {
      for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
        await rejects(client.values.getOrCreate(key).action({ name, args: [] }), "actor", "action_not_found");
      }
    },
  },
  {
    name: "a UserError: code, message, metadata",
    async run({ client, key }) {
      assert.equal(
        (await rejects(client.values.getOrCreate(key).nothing(), "actor", "action_not_found")).metadata,
        undefined,
      );
      const error = await rejects(client.failing.getOrCreate(key).user(), "user", "sold_out", /^The show is sold out$/);
      assert.deepEqual(error.metadata, { left: 0, waiting: ["ann"] });
      await rejects(client.failing.getOrCreate(key).plainUser(), "user", "user_error", /^No code$/);
    },
  },
  {
    name: "an internal error is masked, and has an id",
    async run({ client, key }) {
      const error = await rejects(
        client.failing.getOrCreate(key).internal(),
        undefined,
        "internal_error",
        /^An internal error occurred$/,
      );
      assert.match(error.metadata.errorId, /^[0-9a-f]{16}$/);
      assert.equal(error.rayId, error.metadata.errorId);
      assert.doesNotMatch(JSON.stringify([error, error.message, error.stack]), /hunter2/);
    },
  },
  {
    name: "a result that cannot be sent: value/not_serializable",
    run: ({ client, key }) => rejects(client.failing.getOrCreate(key).notSerializable(), "value", "not_serializable"),
  },
  {
    name: "an action that takes too long: actor/action_timed_out",
    run: ({ client, key }) => rejects(client.failing.getOrCreate(key).never(), "actor", "action_timed_out"),
  },
  {
    name: "a request that is too long: message/incoming_too_long",
    run: ({ client, key }) =>
      rejects(client.values.getOrCreate(key).count("x".repeat(70_000)), "message", "incoming_too_long"),
  },
  {
    name: "an answer that is too long: message/outgoing_too_long",
    run: ({ client, key }) => rejects(client.room.getOrCreate(key).long(1_100_000), "message", "outgoing_too_long"),
  },
  {
    name: "an error names its actor",
    async run({ client, key }) {
      const handle = client.failing.getOrCreate(key);
      const error = await rejects(handle.user(), "user", "sold_out");
      assert.equal(error.actor.actorId, await handle.resolve());
      assert.equal(error.actor.key, key);
    },
  },
  {
    name: "an aborted action rejects at once",
    async run({ client, key }) {
      const controller = new AbortController();
      const started = Date.now();
      const call = client.failing.getOrCreate(key).action({ name: "never", args: [], signal: controller.signal });
      setTimeout(() => controller.abort(new Error("enough")), 50);
      await assert.rejects(call);
      assert.ok(Date.now() - started < 250, "before the action's own timeout");
    },
  },
  {
    name: "an aborted handle is still good",
    async run({ client, key }) {
      const handle = client.values.getOrCreate(key);
      await assert.rejects(handle.action({ name: "count", args: [], signal: AbortSignal.abort() }));
      assert.equal(await handle.count(1), 1);
    },
  },
  {
    name: "params are accepted",
    run: async ({ client, key }) =>
      assert.equal(await client.values.getOrCreate(key, { params: { user: "ann", tags: [1] } }).count(1), 1),
  },
];

/** @type {Case[]} */
const QUEUE_CASES = [
  {
    name: "send resolves with undefined; the message is handled",
    async run({ client, key }) {
      const handle = client.worker.getOrCreate(key);
      assert.equal(await handle.send("jobs", { v: 1 }), undefined);
      assert.deepEqual(await handle.send("jobs", { v: 2 }, { wait: true, timeout: 5000 }), {
        status: "completed",
        response: { done: { v: 2 } },
      });
      assert.deepEqual(await handle.handled(), [{ v: 1 }, { v: 2 }]);
    },
  },
  {
    name: "send with wait, and every kind of value",
    async run({ client, encoding, key }) {
      const body =
        encoding === "json"
          ? { n: 1n, bytes: new Uint8Array([1]), like: ["$x", 1] }
          : { map: new Map([[1, new Set([2n])]]), at: new Date(5) };
      const result = await client.worker.getOrCreate(key).send("jobs", body, { wait: true, timeout: 5000 });
      assert.equal(showValue(result), showValue({ status: "completed", response: { done: body } }));
    },
  },
  {
    name: "send with wait that nobody completes: timedOut",
    async run({ client, key }) {
      const started = Date.now();
      assert.deepEqual(await client.worker.getOrCreate(key).send("left", 1, { wait: true, timeout: 100 }), {
        status: "timedOut",
      });
      assert.ok(Date.now() - started >= 95);
    },
  },
  {
    name: "send with wait and no timeout: actor/action_timed_out",
    run: ({ client, key }) =>
      rejects(client.worker.getOrCreate(key).send("left", 1, { wait: true }), "actor", "action_timed_out"),
  },
  {
    name: "an undeclared queue: queue/not_declared",
    run: ({ client, key }) => rejects(client.worker.getOrCreate(key).send("nothing", 1), "queue", "not_declared"),
  },
  {
    name: "any queue of an actor that declares none, and has a run handler",
    async run({ client, key }) {
      const handle = client.inbox.getOrCreate(key);
      await handle.send("what/ever é", ["$x", 1]);
      await becomes(() => handle.taken(), [["what/ever é", ["$x", 1]]]);
    },
  },
  {
    name: "authorize that gives false: auth/forbidden, and nothing is known",
    async run({ client, key }) {
      const place = ["forbidden", key];
      await rejects(client.counter.getOrCreate(place).increment(1), "auth", "forbidden");
      await rejects(client.counter.get(place).getCount(), "auth", "forbidden");
      await rejects(client.counter.create(place), "auth", "forbidden");
      await rejects(client.counter.get(place).resolve(), "auth", "forbidden");
      await rejects(client.worker.getOrCreate(place).send("jobs", 1), "auth", "forbidden");
      assert.equal((await client.counter.getOrCreate(place).fetch("/")).status, 403);
    },
  },
  {
    name: "canCreate that refuses leaves no actor; who is let create, and let in, enters",
    async run({ client, key }) {
      const params = { word: "swordfish" };
      await rejects(client.club.getOrCreate(key, { params }).enter(), "auth", "forbidden");
      await rejects(client.club.create(key, { input: { word: "guess" }, params }), "auth", "forbidden");
      await rejects(client.club.get(key).resolve(), "actor", "not_found");
      await rejects(client.club.getOrCreate(key, { createWithInput: params }).enter(), "auth", "unauthorized");
      await rejects(client.club.get(key).resolve(), "actor", "not_found");
      assert.equal(await client.club.getOrCreate(key, { createWithInput: params, params }).enter(), 1);
      const made = await client.club.create([key, "made"], { input: params, params });
      assert.equal(await made.enter(), 1);
    },
  },
  {
    name: "onBeforeConnect that refuses leaves no actor, also by create: this client sends no params with it",
    async run({ client, key }) {
      await rejects(client.lodge.getOrCreate(key, { params: { word: "guess" } }).enter(), "user", "unwelcome");
      await rejects(client.lodge.create(key, { params: { word: "swordfish" } }), "auth", "forbidden", /canCreate/);
      await rejects(client.lodge.get(key).resolve(), "actor", "not_found");
      assert.equal(await client.lodge.getOrCreate(key, { params: { word: "swordfish" } }).enter(), "in");
    },
  },
  {
    name: "canPublish that refuses: auth/forbidden",
    run: ({ client, key }) => rejects(client.worker.getOrCreate(key).send("refused", 1), "auth", "forbidden"),
  },
  {
    name: "a full queue: queue/full",
    async run({ client, key }) {
      const handle = client.worker.getOrCreate(key);
      for (let i = 0; i < 3; i++) await handle.send("left", i);
      const error = await rejects(handle.send("left", 3), "queue", "full", /3/);
      assert.deepEqual(error.metadata, { limit: 3 });
    },
  },
  {
    name: "a message that is too large: queue/message_too_large",
    async run({ client, key }) {
      const handle = client.worker.getOrCreate(key);
      await rejects(handle.send("left", "x".repeat(1001)), "queue", "message_too_large");
      await rejects(handle.send("left", "x".repeat(1_100_000)), "queue", "message_too_large");
    },
  },
  {
    name: "sends of one handle arrive in order",
    async run({ client, key }) {
      const handle = client.worker.getOrCreate(key);
      await Promise.all([1, 2, 3].map((v) => handle.send("jobs", v)));
      await handle.send("jobs", 4, { wait: true, timeout: 5000 });
      assert.deepEqual(await handle.handled(), [1, 2, 3, 4]);
    },
  },
  {
    name: "send to nothing: actor/not_found",
    run: ({ client, key }) => rejects(client.worker.get(key).send("jobs", 1), "actor", "not_found"),
  },
];

/** @type {readonly Case[]} */
const RAW_CASES = [
  {
    name: "fetch reaches onRequest",
    run: async ({ client, key }) => {
      const response = await client.values
        .getOrCreate(key)
        .fetch("/x/y?z=1", { method: "POST", body: "text", headers: { "x-own": "1" } });
      assert.deepEqual(
        [response.status, await response.json()],
        [200, { method: "POST", path: "/x/y?z=1", own: "1", body: "text" }],
      );
    },
  },
];

/** @type {readonly Case[]} */
export const CASES = [
  ...VALUE_CASES,
  ...ANSWER_CASES,
  ...ACCESSOR_CASES,
  ...ACTION_CASES,
  ...QUEUE_CASES,
  ...CONNECTION_CASES,
  ...REACT_CASES,
  ...RAW_CASES,
];
