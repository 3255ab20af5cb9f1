import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createHandler } from "../../src/entry/cloudflare.js";
import { unauthorizedError, UserError } from "../../src/entry/errors.js";
import { actor, queue, setup } from "../../src/entry/index.js";
import { db } from "../../src/entry/db.js";
import { workflow } from "../../src/entry/workflow.js";
import { encodeTaggedCbor, formatBase64Url, objectName, wireCodec, type Encoding } from "../../src/protocol/index.js";
import type { AuthorizeTarget } from "../../src/router/index.js";
import { serve } from "../support/worker.js";
import { TestSocket } from "./test-socket.js";

// Every door of an actor, on the platform: who is refused has created, run and written nothing.

const worker = (exports as unknown as { default: { fetch(request: Request): Promise<Response> } }).default;
const { ACTORS } = env as unknown as { ACTORS: DurableObjectNamespace };

/** What ran of an actor, by key. */
const ran = new Map<string, string[]>();
const note = (c: { readonly key: string[] }, what: string): void =>
  void ran.set(c.key.join(), [...(ran.get(c.key.join()) ?? []), what]);

const shop = actor({
  createState: (c, input: unknown) => {
    note(c, "createState");
    return { input };
  },
  queues: { orders: queue<unknown>() },
  onCreate: (c) => note(c, "onCreate"),
  onWake: (c) => note(c, "onWake"),
  onBeforeConnect: (c) => note(c, "onBeforeConnect"),
  onConnect: (c) => note(c, "onConnect"),
  onRequest: (c) => {
    note(c, "onRequest");
    return new Response("served");
  },
  onWebSocket: (c) => note(c, "onWebSocket"),
  run: workflow(async (ctx) => {
    await ctx.step("charge", (step) => note(step, "charge"));
  }),
  actions: { buy: (c) => note(c, "buy") },
});
const registry = setup({ use: { shop } });

/** What came of knocking: an HTTP status, or a socket's close, and the error it told. */
interface Refusal {
  readonly status: number | string;
  readonly code: string;
}

type Knock = (key: string, encoding: Encoding, headers: Record<string, string>) => Promise<Refusal>;

const INPUT = `&rvt-input=${formatBase64Url(encodeTaggedCbor({ card: "4242" }))}`;
const query = (key: string, method = `getOrCreate${INPUT}`): string =>
  `rvt-namespace=default&rvt-key=${key}&rvt-method=${method}`;

async function http(path: string, init: RequestInit & { readonly headers: Record<string, string> }): Promise<Refusal> {
  const response = await worker.fetch(new Request(`http://worker.test${path}`, init));
  const { group, code } = (await response.json()) as { group: string; code: string };
  return { status: response.status, code: `${group}/${code}` };
}

async function socket(
  path: string,
  key: string,
  encoding: Encoding,
  headers: Record<string, string>,
): Promise<Refusal> {
  const dialled = await TestSocket.dial("shop", key, {
    path: `/gateway/shop/${path}?${query(key)}`,
    encoding,
    headers,
  });
  const frame = await dialled.next();
  const { code, reason } = await dialled.closed;
  if (frame.tag !== "Error") return { status: code, code: frame.tag };
  expect(reason).toBe(`${frame.val.group}.${frame.val.code}`);
  return { status: code, code: `${frame.val.group}/${frame.val.code}` };
}

const action = (encoding: Encoding): RequestInit["body"] => wireCodec(encoding).actionRequest.encode({ args: [] });
const message = (encoding: Encoding): RequestInit["body"] =>
  wireCodec(encoding).queueSendRequest.encode({ body: 1, name: "orders", wait: false });
const spec = (key: string): string =>
  JSON.stringify({ name: "shop", key, input: formatBase64Url(encodeTaggedCbor(1)) });

const DOORS: Readonly<Record<string, Knock>> = {
  action: (key, encoding, headers) =>
    http(`/gateway/shop/action/buy?${query(key)}`, {
      method: "POST",
      body: action(encoding) ?? null,
      headers: { "x-rivet-encoding": encoding, ...headers },
    }),
  message: (key, encoding, headers) =>
    http(`/gateway/shop/queue/orders?${query(key)}`, {
      method: "POST",
      body: message(encoding) ?? null,
      headers: { "x-rivet-encoding": encoding, ...headers },
    }),
  connection: (key, encoding, headers) => socket("connect", key, encoding, headers),
  "raw socket": (key, encoding, headers) => socket("websocket/x", key, encoding, headers),
  "raw request": (key, _encoding, headers) => http(`/gateway/shop/request/x?${query(key)}`, { headers }),
  "raw POST": (key, _encoding, headers) =>
    http(`/gateway/shop/request/x?${query(key)}`, { method: "POST", body: "x", headers }),
  "PUT /actors": (key, _encoding, headers) =>
    http("/actors?namespace=default", { method: "PUT", body: spec(key), headers }),
  "POST /actors": (key, _encoding, headers) =>
    http("/actors?namespace=default", { method: "POST", body: spec(key), headers }),
  "GET /actors": (key, _encoding, headers) => http(`/actors?name=shop&key=${key}`, { headers }),
};
const CASES = Object.entries(DOORS).flatMap(([door, knock]) =>
  (["json", "cbor", "bare"] as const).map((encoding) => [door, encoding, knock] as const),
);

async function expectNothing(key: string, withDatabase = false): Promise<void> {
  expect(ran.get(key)).toBeUndefined();
  await runInDurableObject(ACTORS.get(ACTORS.idFromName(objectName("shop", [key]))), async (_instance, { storage }) => {
    expect([[...storage.kv.list()], await storage.getAlarm()]).toEqual([[], null]);
    if (withDatabase) expect(storage.sql.exec("select name from sqlite_master where name = 't'").toArray()).toEqual([]);
  });
}

const isSocket = (door: string): boolean => door.endsWith("socket") || door === "connection";

describe("authorize", () => {
  it.each(CASES)("that gives false refuses at the door %s in %s", async (door, encoding, knock) => {
    const asked: AuthorizeTarget[] = [];
    serve(registry, { authorize: (_request, target) => asked.push(target) < 0 });
    const key = `${door} ${encoding}`.replace(/\W/g, "-");
    expect(await knock(key, encoding, {})).toEqual({ status: isSocket(door) ? 1011 : 403, code: "auth/forbidden" });
    expect(asked).toMatchObject([{ actor: "shop", key: [key] }]);
    await expectNothing(key);
  });

  it.each(CASES)("that throws is answered at the door %s in %s", async (door, encoding, knock) => {
    serve(registry, {
      authorize: async () => {
        throw unauthorizedError();
      },
    });
    const key = `thrown ${door} ${encoding}`.replace(/\W/g, "-");
    expect(await knock(key, encoding, {})).toEqual({ status: isSocket(door) ? 1011 : 401, code: "auth/unauthorized" });
    await expectNothing(key);
  });

  it("knows a socket's token, which travels among the subprotocols, and a call's, which does as a header", async () => {
    const tokens: (string | undefined)[] = [];
    serve(registry, {
      authorize: (_request, { token, params }) => tokens.push(`${token} ${JSON.stringify(params)}`) < 0,
    });
    const protocols = ["rivet", "rivet_encoding.json", "rivet_token.a%2Fb", "rivet_conn_params.%7B%22n%22%3A1%7D"];
    await (
      await TestSocket.dial("shop", "tokens", { protocols })
    ).closed;
    await DOORS["action"]?.("tokens", "json", { "x-rivet-token": "a/b", "x-rivet-conn-params": '{"n":1}' });
    expect(tokens).toEqual(['a/b {"n":1}', 'a/b {"n":1}']);
  });

  it("by id is told by nothing whether there is such an actor", async () => {
    serve(registry);
    const made = (await (
      await worker.fetch(
        new Request("http://worker.test/actors?namespace=default", { method: "PUT", body: spec("known") }),
      )
    ).json()) as { actor: { actor_id: string } };
    const id = made.actor.actor_id;
    const before = ran.get("known")?.length;
    serve(registry, {
      authorize: async (_request, target) => "actorId" in target && (await target.resolve())?.key[0] === "another",
    });
    const otherLife = id.replace(/.$/, (digit) => (digit === "0" ? "1" : "0"));
    for (const asked of [id, otherLife, `${"0".repeat(64)}-${"0".repeat(16)}`]) {
      expect(await http(`/actors?actor_ids=${asked}`, { headers: {} })).toEqual({
        status: 403,
        code: "auth/forbidden",
      });
      expect(await http(`/gateway/${asked}/action/buy`, { method: "POST", body: "{}", headers: {} })).toEqual({
        status: 403,
        code: "auth/forbidden",
      });
    }
    expect(ran.get("known")).toHaveLength(before ?? 0);
  });
});

describe("an actor of its own mind", () => {
  const said = (hook: string): never => {
    throw new UserError(`${hook} says no`, { code: hook });
  };
  /** Each hook of a creation refuses in an actor of its own, after writing whatever it can. */
  const refusing = (hook: string) => {
    const ask = async (here: string, given: unknown): Promise<void> => {
      const c = given as {
        readonly key: string[];
        readonly kv: { put(key: string, value: string): Promise<void> };
        readonly db: { execute(sql: string): Promise<unknown> };
        readonly schedule: { after(ms: number, action: string): Promise<string> };
      };
      if (here !== "canCreate") {
        await c.db.execute("create table if not exists t (x)");
        await c.db.execute("insert into t values (1)");
        await c.kv.put(here, "x");
        await c.schedule.after(3_600_000, "buy");
      }
      if (here === hook) said(hook);
    };
    return actor({
      db: db(),
      queues: { orders: queue<unknown>() },
      canCreate: (c) => ask("canCreate", c),
      createState: async (c) => {
        await ask("createState", c);
        return {};
      },
      onCreate: (c) => ask("onCreate", c),
      createVars: async (c) => {
        await ask("createVars", c);
        return {};
      },
      onWake: (c) => ask("onWake", c),
      onBeforeConnect: (c) => ask("onBeforeConnect", c),
      createConnState: async (c) => {
        await ask("createConnState", c);
        return {};
      },
      onRequest: (c) => {
        note(c, "onRequest");
        return new Response("served");
      },
      onWebSocket: (c) => note(c, "onWebSocket"),
      run: workflow(async (ctx) => {
        await ctx.step("charge", (step) => note(step, "charge"));
      }),
      actions: { buy: (c) => note(c, "buy") },
    });
  };
  const creating = CASES.filter(([door]) => door !== "GET /actors");

  for (const hook of ["canCreate", "createState", "onWake", "onBeforeConnect", "createConnState"]) {
    const asked = creating.filter(([door]) => !(door.endsWith("/actors") && hook.includes("Conn")));
    it.each(asked)(`whose ${hook} refuses is not created at the door %s in %s`, async (door, encoding, knock) => {
      serve(setup({ use: { shop: refusing(hook) } }));
      const key = `${hook} ${door} ${encoding}`.replace(/\W/g, "-");
      expect(await knock(key, encoding, {})).toEqual({ status: isSocket(door) ? 1011 : 400, code: `user/${hook}` });
      await expectNothing(key, true);
    });
  }

  it("whose canCreate refuses is not created by a large input either, which comes before a socket or a raw request", async () => {
    for (const hook of ["canCreate", "onBeforeConnect", "createConnState"]) {
      serve(setup({ use: { shop: refusing(hook) } }));
      const large = `&rvt-input=${formatBase64Url(encodeTaggedCbor("x".repeat(9000)))}`;
      const key = `large-${hook}`;
      expect(await http(`/gateway/shop/request/x?${query(key, `getOrCreate${large}`)}`, { headers: {} })).toEqual({
        status: 400,
        code: `user/${hook}`,
      });
      const dialled = await TestSocket.dial("shop", key, {
        path: `/gateway/shop/connect?${query(key, `getOrCreate${large}`)}`,
      });
      expect((await dialled.closed).reason).toBe(`user.${hook}`);
      await expectNothing(key, true);
    }
  });

  it("is asked over the binding, where it is told that code of this Worker asks", async () => {
    const asked: unknown[] = [];
    const guarded = actor({
      state: {},
      canCreate: (c, input: unknown, params) => asked.push([c.internal, input, params]) > 1 && c.internal,
      onBeforeConnect: (c) => void asked.push(c.internal),
      actions: { get: () => 1 },
    });
    const own = createHandler(setup({ use: { guarded } }), { logLevel: "silent", authorize: () => false });
    serve(setup({ use: { guarded } }));
    const client = own.client(env);
    await expect(client.guarded.create(["b"], { input: 7, params: "p" })).rejects.toMatchObject({
      group: "auth",
      code: "forbidden",
    });
    expect(await (await client.guarded.create(["b"], { input: 7, params: "p" })).get()).toBe(1);
    expect(asked).toEqual([[true, 7, "p"], [true, 7, "p"], true]);
  });
});

describe("a page of another origin", () => {
  it.each(CASES)("is refused at the door %s in %s", async (door, encoding, knock) => {
    serve(registry);
    const key = `page ${door} ${encoding}`.replace(/\W/g, "-");
    expect(await knock(key, encoding, { origin: "https://evil.example" })).toEqual({
      status: isSocket(door) ? 1011 : 403,
      code: "auth/origin_not_allowed",
    });
    await expectNothing(key);
  });

  it('"*" lets its socket in without its cookie', async () => {
    const cookies: unknown[] = [];
    serve(registry, {
      cors: { origins: "*" },
      authorize: (request) => cookies.push(request.headers.get("cookie")) < 0,
    });
    for (const origin of ["https://evil.example", "http://worker.test"]) {
      await (
        await TestSocket.dial("shop", "cookies", { headers: { origin, cookie: "session=1" } })
      ).closed;
    }
    expect(cookies).toEqual([null, "session=1"]);
  });
});

it("the variable PERDURE_HOSTS lists host names where the option does not", async () => {
  const variables = env as unknown as { PERDURE_HOSTS?: string };
  variables.PERDURE_HOSTS = " loopback , abc.example.dev";
  try {
    serve(registry);
    expect(await DOORS["action"]?.("variable", "json", {})).toEqual({ status: 403, code: "auth/host_not_allowed" });
    serve(registry, { hosts: ["worker.test"] });
    expect((await worker.fetch(new Request("http://worker.test/actors?name=shop&key=variable"))).status).toBe(200);
    variables.PERDURE_HOSTS = "http://localhost";
    expect(() => serve(registry)).toThrow("createHandler(): hosts");
  } finally {
    delete variables.PERDURE_HOSTS;
  }
  await expectNothing("variable");
});

it("a host name that is not ours is refused, sockets too", async () => {
  serve(registry, { hosts: ["loopback"] });
  expect(await DOORS["action"]?.("host", "json", {})).toEqual({ status: 403, code: "auth/host_not_allowed" });
  expect(await DOORS["connection"]?.("host", "json", {})).toEqual({ status: 1011, code: "auth/host_not_allowed" });
  await expectNothing("host");
});
