import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createClient } from "../../src/entry/client.js";
import { createHandler } from "../../src/entry/cloudflare.js";
import { actor, event, queue, setup, UserError } from "../../src/entry/index.js";
import { Loop, workflow } from "../../src/entry/workflow.js";
import {
  decodeValue,
  encodeJson,
  encodeValue,
  formatBase64,
  wireCodec,
  type Encoding,
} from "../../src/protocol/index.js";
import { clock, TestObject } from "../durable-object/test-object.js";
import { serve } from "../support/worker.js";
import { TestSocket } from "./test-socket.js";
import { workerFetch, WorkerSocket } from "./worker-socket.js";

// Values at their limits, through every door of an actor and every way to it: what went in comes out, and what is too deep
// leaves everything as it was.

const worker = (exports as unknown as { default: { fetch(request: Request): Promise<Response> } }).default;

/** Containers of every kind within each other, `levels` of them. */
function nested(levels: number): unknown {
  let value: unknown = "inside";
  for (let level = 0; level < levels; level += 1) {
    const around: (() => unknown)[] = [
      () => [value],
      () => ({ value }),
      () => new Map([["value", value]]),
      () => new Set([value]),
      () => new Map([[value, 1]]),
    ];
    value = around[level % around.length]?.();
  }
  return value;
}

/** The same in what JSON has: a message of a person who types it. */
function nestedLists(levels: number): unknown {
  let value: unknown = "inside";
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
}

const shared = { tags: ["a"], at: new Date(5) };
const VALUES: Readonly<Record<string, unknown>> = {
  "64 levels": nested(64),
  "a wide value": {
    list: Array.from({ length: 250 }, (_, n) => n - 125),
    record: Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`key ${n}`, n / 8])),
  },
  "60 KB of text": { text: `${"é€😀".repeat(6_600)}\ud800`, "\ufeff": "\u0000\ufeff" },
  "every odd value": {
    numbers: [NaN, -0, 0, Infinity, -Infinity, 2 ** 53, -(2 ** 60), 5e-324, 2n ** 64n, -(2n ** 70n), 0n],
    absent: [undefined, { absent: undefined }, null],
    tags: [
      ["$Undefined", 0],
      ["$Map", []],
      ["$$Set", ["$"]],
      [undefined, undefined],
    ],
    map: new Map<unknown, unknown>([
      [NaN, 1],
      [undefined, 2],
      [null, 3],
      [{ k: [1] }, 4],
      ["", 5],
      [1n, 6],
      [1, 7],
      ["1", 8],
      [new Date(NaN), new Map([[new Set([1]), /a\/b/giu]])],
    ]),
    inherited: JSON.parse(
      '{"__proto__":{"admin":true},"constructor":{"prototype":1},"toString":"text","then":1,"toJSON":2,"length":-1,"valueOf":null}',
    ),
    shared: { first: shared, list: [shared, shared, { again: shared }], map: new Map([[shared, shared]]) },
    bytes: [
      new Uint8Array([0, 255]),
      new Float64Array([NaN, 1.5]),
      new Uint8Array([1]).buffer,
      new BigInt64Array([-1n]),
    ],
    error: new RangeError("r", { cause: new TypeError("t") }),
  },
};

/** Tells values apart as finely as anything does: -0, undefined, the order of keys, the class of an error. */
const print = (value: unknown): string => formatBase64(encodeValue(value));

/** The value beside what the server says it was. */
const printed = ([value, seen]: readonly unknown[]): unknown[] => [print(value), seen];

/** What scheduled actions were given, by key. */
const fired = new Map<string, string[]>();

const house = actor({
  createState: (_c, input: unknown) => ({ input, kept: undefined as unknown, list: [] as unknown[] }),
  createConnState: (_c, params: unknown) => ({ params }),
  queues: { work: queue<unknown, unknown>(), again: queue<unknown, unknown>() },
  events: { told: event<[value: unknown, print: string]>() },
  run: workflow(async (ctx) => {
    const work = await ctx.queue.next("work", { names: ["work"], completable: true });
    const { body } = work;
    const step = await ctx.step("step", () => body);
    const join = await ctx.join("join", {
      a: { run: async (branch) => branch.step("a", () => body) },
      b: { run: async () => body },
    });
    const loop = await ctx.loop({
      name: "loop",
      state: { round: 0, value: body },
      run: async (_, state) =>
        state.round < 2 ? Loop.continue({ round: state.round + 1, value: state.value }) : Loop.break(state.value),
    });
    await ctx.step("keep", (c) => {
      c.state.kept = body;
      c.state.list.push(body, { body });
    });
    await work.complete([body, print(body)]);
    // Whoever asks again asks another life of the object, so that all of this comes from the history.
    const again = await ctx.queue.next("again", { names: ["again"], completable: true });
    await again.complete({ body, step, join, loop, message: again.body });
  }),
  actions: {
    echo: (_c, value: unknown) => [value, print(value)],
    input: (c) => [c.state.input, print(c.state.input)],
    params: (c) => [c.conn.params, print(c.conn.params), (c.conn.state as { params: unknown }).params],
    refuse: (_c, value: unknown) => {
      throw new UserError("No", { code: "no", metadata: { value } });
    },
    set: (c, value: unknown) => {
      c.state.kept = value;
      c.state.list = [value, { value }];
    },
    state: (c) => [c.state.kept, c.state.list],
    tell: (c, value: unknown) => c.broadcast("told", value, print(value)),
    plan: async (c, value: unknown) => {
      await c.schedule.after(1_000, "fire", "at", value);
      await c.cron.every({ name: "every", interval: 5_000, action: "fire", args: ["every", value] });
    },
    planned: async (c) => [(await c.schedule.list()).map(({ args }) => args[1]), (await c.cron.get("every"))?.args[1]],
    fire: (c, how: string, value: unknown) =>
      void fired.set(c.key.join(), [...(fired.get(c.key.join()) ?? []), `${how} ${print(value)}`]),
    keep: async (c, value: unknown) => {
      await c.kv.put("bytes", encodeValue(value));
      const text = encodeJson(value, { extended: true }).toWellFormed();
      const textKey = text.slice(0, 500).toWellFormed();
      await c.kv.put(textKey, text);
      return [await c.kv.get("bytes", { type: "binary" }), (await c.kv.get(textKey)) === text];
    },
    /** Values that no client sent. */
    odd: () => ODD,
  },
});

const registry = setup({ use: { house } });
serve(registry);

const clientOf = (encoding: Encoding) =>
  createClient<typeof registry>({
    endpoint: "http://worker.test",
    encoding,
    fetch: workerFetch,
    webSocket: WorkerSocket,
  });
const WAYS = [
  ...(["json", "cbor", "bare"] as const).map((encoding) => [encoding, () => clientOf(encoding)] as const),
  ["the binding", () => createHandler(registry).client(env)] as const,
];
const CASES = WAYS.flatMap(([way, open]) => Object.keys(VALUES).map((name) => [name, way, open] as const));

/** Params stand in a header and among a socket's subprotocols, as JSON of 4,096 bytes at most. */
const canBeParams = (value: unknown): boolean =>
  encodeURIComponent(encodeJson(value, { extended: true }).toWellFormed()).length <= 4_000;
const storedOf = (object: TestObject): Promise<string[]> =>
  runInDurableObject(object.stub as DurableObjectStub, (_, { storage }) =>
    [...storage.kv.list<Uint8Array>()].map(([key, bytes]) => `${key} ${formatBase64(new Uint8Array(bytes))}`),
  );
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no error",
    (error: unknown) => error,
  );

describe("comes out as it went in", () => {
  it.each(CASES)("%s, over %s", async (name, way, open) => {
    const value = VALUES[name];
    const whole = print(value);
    const key = `${name} ${way}`;
    const object = new TestObject("house", key);
    const client = open();
    const at = (): ReturnType<typeof client.house.getOrCreate> => client.house.getOrCreate(key);
    await client.house.create(key, { input: value });

    const params = canBeParams(value) ? value : "small";
    const connection = at().connect(params);
    const heard = new Promise<string[]>((resolve) =>
      connection.on("told", (told, seen) => resolve([print(told), seen])),
    );
    await connection.ready;
    for (const callee of [at(), connection]) {
      expect(printed(await callee.echo(value))).toEqual([whole, whole]);
      expect(printed(await callee.input())).toEqual([whole, whole]);
      const failure = (await failureOf(callee.refuse(value))) as { code: string; metadata: { value: unknown } };
      expect([failure.code, print(failure.metadata.value)]).toEqual(["no", whole]);
      await callee.set(value);
    }
    const [ofSocket, seen, ofState] = await connection.params();
    expect([print(ofSocket), seen, print(ofState)]).toEqual([print(params), print(params), print(params)]);
    const ofCall = await client.house.getOrCreate(key, { params }).params();
    expect(printed(ofCall)).toEqual([print(params), print(params)]);
    await connection.tell(value);
    expect(await heard).toEqual([whole, whole]);

    const { response } = (await at().send("work", value, { wait: true, timeout: 10_000 })) as {
      response: [unknown, string];
    };
    expect(printed(response)).toEqual([whole, whole]);
    const [bytes, isText] = await at().keep(value);
    expect([print(decodeValue(bytes as Uint8Array)), isText]).toEqual([whole, true]);
    await at().plan(value);
    await connection.dispose();

    // From here on, all of it has been stored and read again.
    await object.evict();
    expect(print(await at().state())).toBe(print([value, [value, { value }, value, { body: value }]]));
    const again = (await at().send("again", value, { wait: true, timeout: 10_000 })) as { response: unknown };
    expect(print(again.response)).toBe(
      print({ body: value, step: value, join: { a: value, b: value }, loop: value, message: value }),
    );
    expect(print(await at().planned())).toBe(print([[value], value]));
    clock.moveTo(clock.now() + 5_000);
    await object.alarm();
    await object.settle();
    expect(fired.get(key)?.toSorted()).toEqual([`at ${whole}`, `every ${whole}`]);
  });
});

describe("with one level too many", () => {
  it.each(WAYS.map(([way, open]) => [way, open, way === "the binding" ? 257 : 65] as const))(
    "is refused at each door, and changes nothing, over %s",
    async (way, open, levels) => {
      const client = open();
      const key = `deep ${way}`;
      const object = new TestObject("house", key);
      const at = (options = {}): ReturnType<typeof client.house.getOrCreate> => client.house.getOrCreate(key, options);
      const fresh = `${key} new`;
      await at().set("as it was");
      await at()
        .refuse(0)
        .catch(() => {});
      const before = await storedOf(object);
      for (const value of [nested(levels), nestedLists(levels)]) {
        const attempts: Record<string, () => Promise<unknown>> = {
          action: () => at().set(value),
          message: () => at().send("work", value),
          params: () => at({ params: value }).set("other"),
          input: () => client.house.create(fresh, { input: value }),
          "input of a call": () => client.house.getOrCreate(fresh, { createWithInput: value }).set("other"),
          connection: () => at().connect(value).ready,
          // The frame cannot be read, so that nobody knows whose call it was: the socket closes with the reason.
          socket: async () => {
            const connection = at().connect();
            await connection.ready;
            const failure = await failureOf(connection.set(value));
            await connection.dispose();
            throw (failure as Error).cause ?? failure;
          },
        };
        for (const [door, attempt] of Object.entries(attempts)) {
          // Code of the same deployment may hand over what can be stored: its own client refuses what is deeper than that.
          const refused =
            way === "the binding" && door !== "socket"
              ? { group: "value", code: "not_serializable" }
              : { group: "encoding", code: "invalid" };
          expect([door, await failureOf(attempt())]).toMatchObject([door, { statusCode: 400, ...refused }]);
        }
      }
      expect(await storedOf(object)).toEqual(before);
      expect(await at().state()).toEqual(["as it was", ["as it was", { value: "as it was" }]]);
      expect(await storedOf(new TestObject("house", fresh))).toEqual([]);
    },
  );
});

const ODD = {
  numbers: [NaN, -0, Infinity],
  absent: [undefined, { a: undefined }],
  map: new Map([["k", 1]]),
  set: new Set([1, new Set([2n])]),
  big: 2n ** 64n,
  date: new Date(5),
  expression: /a/g,
  error: new TypeError("t"),
  bytes: new Uint8Array([1, 2]),
  floats: new Float32Array([1.5]),
  ["__proto__"]: { a: 1 },
  tag: ["$Set", [1]],
};

/** What each of the published clients knows of these values; the others it would refuse to read. */
const PUBLISHED: Readonly<Record<Encoding, unknown>> = {
  json: {
    ...ODD,
    numbers: [null, 0, null],
    map: {},
    date: "1970-01-01T00:00:00.005Z",
    expression: "/a/g",
    error: { name: "TypeError", message: "t" },
    floats: [1.5],
  },
  cbor: { ...ODD, numbers: [NaN, 0, Infinity] },
  bare: { ...ODD, numbers: [NaN, 0, Infinity] },
};

describe("to a published client", () => {
  it.each(["json", "cbor", "bare"] as const)(
    "comes as it knows values, in %s, over HTTP and a socket",
    async (encoding) => {
      const { actionRequest, actionResponse } = wireCodec(encoding);
      const key = `published ${encoding}`;
      const path = `/gateway/house/action/odd?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=${key}`;
      const response = await worker.fetch(
        new Request(`http://worker.test${path}`, {
          method: "POST",
          headers: { "x-rivet-encoding": encoding },
          body: actionRequest.encode({ args: [] }),
        }),
      );
      const socket = await TestSocket.open("house", key, { encoding });
      for (const output of [
        actionResponse.decode(new Uint8Array(await response.arrayBuffer())).output,
        await socket.call("odd"),
      ]) {
        expect(Object.entries(output as object).map(([name, value]) => [name, print(value)])).toEqual(
          Object.entries(PUBLISHED[encoding] as object).map(([name, value]) => [name, print(value)]),
        );
      }
    },
  );
});
