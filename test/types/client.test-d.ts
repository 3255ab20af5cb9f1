// What a client knows of the actors, from the registry's type alone.
import {
  actor,
  event,
  queue,
  setup,
  type ActorHandle as HandleOf,
  type StandardSchema,
  type Unsubscribe,
} from "perdure";
import {
  createClient,
  type ActorAccessor,
  type ActorConn,
  type ActorConnStatus,
  type ActorError,
  type ActorHandle,
  type AnyClient,
  type Client,
  type ExtractActorsFromRegistry,
  type SendResult,
} from "perdure/client";
import { exactly } from "./exactly.js";

declare const time: StandardSchema<string, Date>;

interface Tree {
  readonly value: number;
  readonly children: readonly Tree[];
}

export const shop = actor({
  state: { result: null as "sold" | "expired" | null, tree: { value: 0, children: [] } as Tree },
  createVars: () => ({ opened: 0 }),
  onCreate: (_c, input: { owner: string }) => void input.owner,
  queues: { bids: queue<{ amount: number }, { accepted: boolean }>(), notes: queue<string>(), times: time },
  events: {
    sold: event<{ price: number }>(),
    said: event<[from: string, text: string]>(),
    nothing: event<[]>(),
    tick: time,
    listed: event<string[]>({}),
  },
  actions: {
    getState: (c) => c.state,
    none: () => {},
    sync: (_c, a: number, b?: string) => `${a}${b}`,
    async: async (_c, ...numbers: number[]) => numbers.length,
    defaulted: (_c, { limit = 10 }: { limit?: number } = {}) => limit,
    promised: async () => new Promise<Date>((resolve) => resolve(new Date())),
    generic: <T>(_c: unknown, value: T) => value,
    any: (_c, value: any) => value,
    // names that a handle has itself
    send: (_c, text: string) => text,
    resolve: () => 1,
    users: { add: (_c, name: string) => ({ name }), roles: { list: async () => ["admin"] as const } },
  },
});
export const counter = actor({ state: { value: 0 }, actions: { increment: (c, by: number) => (c.state.value += by) } });
export const silent = actor({ state: { x: 1 } });
export const registry = setup({ use: { shop, counter, silent, "with-dash": counter } });

const client = createClient<typeof registry>("http://localhost:6420");
exactly<Client<typeof registry>>()(client);
exactly<Client<typeof registry>>()(createClient<typeof registry>());
exactly<Client<typeof registry>>()(
  createClient<typeof registry>({ endpoint: "http://localhost:6420", encoding: "cbor", token: "t" }),
);
exactly<ActorAccessor<typeof shop>>()(client.shop);
exactly<"shop" | "counter" | "silent" | "with-dash">()({} as keyof ExtractActorsFromRegistry<typeof registry>);

// handles
const handle = client.shop.getOrCreate(["main"]);
exactly<ActorHandle<typeof shop>>()(handle);
exactly<HandleOf<typeof shop>>()(handle);
exactly<ActorHandle<typeof shop>>()(client.shop.get("main"));
exactly<ActorHandle<typeof shop>>()(client.shop.get(["a", "b"] as const));
exactly<ActorHandle<typeof shop>>()(client.shop.getForId("0123"));
exactly<Promise<ActorHandle<typeof shop>>>()(client.shop.create("main", { input: { owner: "me" }, region: "weur" }));
exactly<ActorHandle<typeof shop>>()(
  client.shop.getOrCreate("main", {
    createWithInput: { owner: "me" },
    params: { token: "x" },
    signal: AbortSignal.timeout(1000),
  }),
);
exactly<ActorHandle<typeof shop>>()(client.get("shop", "main"));
exactly<ActorHandle<typeof shop>>()(client.getOrCreate("shop", ["main"], { createWithInput: { owner: "me" } }));
exactly<ActorHandle<typeof counter>>()(client.getForId("counter", "0123"));
exactly<Promise<ActorHandle<typeof counter>>>()(client.create("counter", "main"));
exactly<ActorHandle<typeof counter>>()(client["with-dash"].get());
exactly<void>()(await client.dispose());

// actions: without the context, always a promise
const state = await handle.getState();
exactly<{ result: "sold" | "expired" | null; tree: Tree }>()(state);
exactly<() => Promise<void>>()(handle.none);
exactly<(a: number, b?: string) => Promise<string>>()(handle.sync);
exactly<(...numbers: number[]) => Promise<number>>()(handle.async);
exactly<number>()(await handle.defaulted());
exactly<Date>()(await handle.promised());
exactly<unknown>()(await handle.generic("x"));
exactly<any>()(await handle.any(1));
exactly<{ name: string }>()(await handle.users.add("me"));
exactly<readonly ["admin"]>()(await handle.users.roles.list());
exactly<number>()(await client.counter.get("a").increment(1));
// the explicit form, for names that a handle has itself
exactly<string>()(await handle.action<string>({ name: "send", args: ["text"], signal: AbortSignal.timeout(1000) }));
exactly<unknown>()(await handle.action({ name: "users.add", args: ["me"] }));
exactly<string>()(await handle.resolve());
exactly<string>()(await handle.getGatewayUrl());

// connections
const connection = handle.connect();
exactly<ActorConn<typeof shop>>()(connection);
exactly<ActorConn<typeof shop>>()(
  handle.connect(
    { token: "x" },
    { getParams: async () => ({ token: "y" }), callTimeout: 1000, signal: AbortSignal.timeout(1000) },
  ),
);
exactly<string>()(await connection.sync(1));
exactly<{ name: string }>()(await connection.users.add("me"));
exactly<string>()(await connection.action<string>({ name: "send", args: ["text"], signal: AbortSignal.timeout(1000) }));
exactly<void>()(await connection.send("bids", { amount: 1 }));
exactly<boolean | undefined>()((await connection.send("bids", { amount: 1 }, { wait: true })).response?.accepted);
const stopListening = connection.on("sold", (sale) => exactly<{ price: number }>()(sale));
exactly<Unsubscribe>()(stopListening);
stopListening();
connection.on("said", (from, text) => exactly<string>()(from + exactly<string>()(text)));
connection.once("nothing", () => {});
connection.on("tick", (at) => exactly<Date>()(at));
connection.on("listed", (names) => exactly<string[]>()(names));
exactly<Unsubscribe>()(connection.onOpen(() => {}));
exactly<Unsubscribe>()(connection.onClose(() => {}));
exactly<Unsubscribe>()(connection.onError((error) => exactly<ActorError>()(error)));
exactly<Unsubscribe>()(connection.onStatusChange((status) => exactly<ActorConnStatus>()(status)));
exactly<ActorConnStatus>()(connection.connStatus);
exactly<boolean>()(connection.isConnected);
exactly<void>()(await connection.ready);
exactly<string | undefined>()(connection.actorId);
exactly<string | undefined>()(connection.connId);
exactly<void>()(connection.reconnect());
exactly<void>()(await connection.dispose());
// any event, with any arguments, where none is declared
client.counter
  .get()
  .connect()
  .on("anything", (a, ...more) => {
    exactly<any>()(a);
    exactly<any[]>()(more);
  });
exactly<WebSocket>()(await handle.webSocket());
exactly<WebSocket>()(await handle.webSocket("room?x=1", ["chat"], { params: { token: "x" } }));

// sends
exactly<void>()(await handle.send("bids", { amount: 1 }));
exactly<void>()(await handle.send("notes", "text", {}));
exactly<void>()(await handle.send("times", "2026-01-01", { wait: false }));
exactly<void>()(await handle.send("notes", "text", { wait: Date.now() > 0 }));
const answer = await handle.send("bids", { amount: 1 }, { wait: true, timeout: 1000 });
exactly<SendResult<{ accepted: boolean }>>()(answer);
exactly<"completed" | "timedOut">()(answer.status);
exactly<boolean | undefined>()(answer.response?.accepted);
exactly<SendResult<undefined>>()(await handle.send("notes", "text", { wait: true }));
// any name, and any body, where no queue is declared
exactly<void>()(await client.silent.get().send("anything", { any: "thing" }));
exactly<SendResult<unknown>>()(await client.silent.get().send("anything", 1, { wait: true }));

// mistakes
// @ts-expect-error no such actor
void client.shops;
// @ts-expect-error no such actor
client.get("shops");
// @ts-expect-error no such action
handle.getstate();
// @ts-expect-error no such nested action
handle.users.remove("me");
// @ts-expect-error an argument is missing
handle.sync();
// @ts-expect-error wrong argument
handle.sync("1");
// @ts-expect-error one argument too many
handle.none(1);
// @ts-expect-error the context is not passed
client.counter.get().increment({}, 1);
// @ts-expect-error not a member of the state
void state.total;
// @ts-expect-error no queue has that name
handle.send("bid", { amount: 1 });
// @ts-expect-error wrong body
handle.send("bids", { amount: "1" });
// @ts-expect-error the schema's input
handle.send("times", new Date());
// @ts-expect-error a timeout needs `wait: true`
handle.send("bids", { amount: 1 }, { timeout: 1000 });
// @ts-expect-error no event has that name
connection.on("solds", () => {});
// @ts-expect-error the event has other arguments
connection.on("sold", (text: string) => text);
// @ts-expect-error the event has fewer arguments
connection.on("said", (from: string, text: string, more: string) => [from, text, more]);
// @ts-expect-error a connection has no such action
connection.getstate();
// @ts-expect-error a connection opens no other one
connection.connect();
// @ts-expect-error not a time
handle.connect(undefined, { callTimeout: "1 s" });
// @ts-expect-error wrong input
client.shop.create("main", { input: { owner: 1 } });
// @ts-expect-error wrong input
client.shop.getOrCreate("main", { createWithInput: "me" });
// @ts-expect-error parts of a key are strings
client.shop.get([1]);
// @ts-expect-error there is no such encoding
createClient<typeof registry>({ encoding: "xml" });
// @ts-expect-error a registry's type is wanted
void createClient<{ shop: typeof shop }>("http://localhost:6420").shop;

// no type argument: any actor, any action
const untyped = createClient("http://localhost:6420");
exactly<AnyClient>()(untyped);
exactly<any>()(await untyped["anyActor"]!.getOrCreate(["x"]).anyAction(1).anything);
const stop = untyped["anyActor"]!.get("x")
  .connect()
  .on("anyEvent", (anything) => anything.at.all);
exactly<Unsubscribe>()(stop);
// of `any`, anything
exactly<any>()(createClient<any>("http://localhost:6420"));

// ---- input that is required --------------------------------------------------------------------------------------------

declare const planSchema: {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { readonly value: { plan: string; seats: number } };
    readonly types?: { readonly input: { plan: string }; readonly output: { plan: string; seats: number } } | undefined;
  };
};
const plan = actor({
  inputSchema: planSchema,
  canCreate: (c, input) => {
    exactly<{ plan: string; seats: number }>()(input);
    exactly<boolean>()(c.internal);
    // @ts-expect-error nothing of the actor exists yet
    void c.state;
    return input.seats < 10;
  },
  createState: (_c, input) => ({ seats: input.seats }),
  actions: { seats: (c) => c.state.seats },
});
const planRegistry = setup({
  use: { plan, free: actor({ canCreate: (c) => c.internal, actions: { touch: () => 1 } }) },
});
const planClient = createClient<typeof planRegistry>("http://localhost:6420");
exactly<Promise<number>>()(planClient.plan.getOrCreate(["a"], { createWithInput: { plan: "pro" } }).seats());
exactly<Promise<ActorHandle<typeof plan>>>()(planClient.plan.create(["a"], { input: { plan: "pro" } }));
exactly<ActorHandle<typeof plan>>()(planClient.plan.get(["a"]));
exactly<ActorHandle<typeof plan>>()(planClient.getOrCreate("plan", ["a"], { createWithInput: { plan: "pro" } }));
planClient.free.getOrCreate(["a"]);
planClient.free.create();
// @ts-expect-error the schema wants an input
planClient.plan.getOrCreate(["a"]);
// @ts-expect-error the schema wants an input
planClient.plan.create(["a"]);
// @ts-expect-error the schema wants an input
planClient.create("plan", ["a"], {});
// @ts-expect-error another input
planClient.plan.create(["a"], { input: { plan: 5 } });
