// What programs written for RivetKit say about types, beside what actor() infers: names of contexts with parameters, maps,
// helpers that take less than they are given.
import {
  actor,
  event,
  queue,
  setup,
  type ActionContext,
  type ActorConn,
  type ActorContext,
  type ActorHandle,
  type AnyActorDefinition,
  type AnyConn,
  type AnyDatabaseProvider,
  type BeforeActionResponseContext,
  type BeforeConnectContext,
  type Conn,
  type ConnectContext,
  type CreateConnStateContext,
  type CreateContext,
  type CreateContextOf,
  type CreateVarsContext,
  type DestroyContext,
  type DisconnectContext,
  type ExtractActorsFromRegistry,
  type MigrateContext,
  type QueueDeclaration,
  type Registry,
  type RequestContext,
  type RunConfig,
  type RunContext,
  type SleepContext,
  type StateChangeContext,
  type UniversalWebSocket,
  type WakeContext,
  type WebSocketContext,
} from "rivetkit";
import { createClient, type Client } from "rivetkit/client";
import { db, type DatabaseProvider, type InferDatabaseClient, type RawAccess } from "rivetkit/db";
import { db as drizzleDb } from "rivetkit/db/drizzle";
import { exactly } from "./exactly.js";

interface RoomState {
  lines: string[];
}
interface Params {
  user: string;
}
interface Presence {
  at: number;
}
interface Executor {
  execute(sql: string, ...args: unknown[]): Promise<unknown[]>;
}

// helpers with six type arguments, or all eight
const events = { line: event<{ text: string }>() };
const queues = { jobs: queue<{ id: string }, { done: boolean }>() };
type Room = ActorContext<RoomState, Params, Presence, undefined, undefined, DatabaseProvider<RawAccess>>;
const say = (c: Room, text: string): void => {
  c.state.lines.push(text);
  c.broadcast("line", { text });
};
const sayExactly = (
  c: ActionContext<
    RoomState,
    Params,
    Presence,
    undefined,
    undefined,
    DatabaseProvider<RawAccess>,
    typeof events,
    typeof queues
  >,
): string => c.conn.params.user;
const anybody = (c: ActorContext<any, any, any, any, any, any>): number => c.conns.size;
const peers = (conns: Map<string, Conn<RoomState, Params, Presence>>, but: string): string[] =>
  [...conns.values()].filter(({ id }) => id !== but).map(({ params }) => params.user);
const everyConn = (conns: Map<string, AnyConn>): void => {
  for (const conn of conns.values()) conn.send("line", { text: "" });
};
const count = async (db: Executor, from: unknown): Promise<number> =>
  (await db.execute("SELECT 1 WHERE 1 > ?", from)).length;

export const room = actor({
  state: { lines: [] } as RoomState,
  vars: undefined,
  events,
  queues,
  db: db(),
  createConnState: (c, params: Params): Presence => {
    exactly<number>()(c.conns.size);
    return { at: params.user.length };
  },
  onBeforeConnect: (c) => {
    exactly<number>()(c.conns.size);
    // Nobody's params are known here: that would fix them before their declaration is seen.
    for (const conn of c.conns.values()) exactly<unknown>()(conn.params);
  },
  actions: {
    say: (c, text: string) => {
      say(c, text);
      sayExactly(c);
      anybody(c);
      everyConn(c.conns);
      exactly<string[]>()(peers(c.conns, c.conn.id));
      // With the library of ES2025 these have `map`, `filter`, `toArray`.
      const iterators: [
        IteratorObject<string>,
        IteratorObject<Conn<unknown, Params, Presence>>,
        IteratorObject<[string, AnyConn]>,
      ] = [c.conns.keys(), c.conns.values(), c.conns.entries()];
      void iterators;
      // @ts-expect-error own params are typed
      void c.conn.params.name;
    },
    count: async (c, from: unknown) => {
      exactly<number>()(await count(c.db, from));
      const rows = await c.db.execute<{ id: number }>("SELECT ? AS id", from);
      exactly<{ id: number }[]>()(rows);
      await c.db.transaction(async (tx) => count(tx, from));
    },
  },
});

// each hook's context has a name, in RivetKit's order of type arguments
type Six = [RoomState, Params, Presence, undefined, undefined, undefined];
export const hooks = {
  onRequest: (c: RequestContext<RoomState, Params, Presence, undefined, undefined, undefined>): string =>
    c.conn.params.user,
  onWake: (c: WakeContext<RoomState, Params, Presence, undefined, undefined, undefined>): number =>
    c.state.lines.length,
  onSleep: (c: SleepContext<RoomState, Params, Presence, undefined, undefined, undefined>): number =>
    c.state.lines.length,
  onConnect: (c: ConnectContext<RoomState, Params, Presence, undefined, undefined, undefined>): number =>
    c.conn.state.at,
  onDisconnect: (c: DisconnectContext<RoomState, Params, Presence, undefined, undefined, undefined>): number =>
    c.state.lines.length,
  onWebSocket: (
    c: WebSocketContext<RoomState, Params, Presence, undefined, undefined, undefined>,
    socket: UniversalWebSocket,
  ): void => {
    socket.addEventListener("message", (message) => c.state.lines.push(JSON.parse(message.data).text));
    socket.onmessage = (message) => void JSON.parse(message.data);
    if (socket.readyState === socket.OPEN) socket.send(new Uint8Array(1));
  },
  onStateChange: (c: StateChangeContext<RoomState, Params, Presence, undefined, undefined, undefined>): number =>
    c.state.lines.length,
  onDestroy: (c: DestroyContext<RoomState, Params, Presence, undefined, undefined, undefined>): number =>
    c.state.lines.length,
  onMigrate: (c: MigrateContext<RoomState, Params, Presence, undefined, undefined, undefined>): number =>
    c.state.lines.length,
  onBeforeActionResponse: (
    c: BeforeActionResponseContext<RoomState, Params, Presence, undefined, undefined, undefined>,
  ): number => c.conns.size,
  onCreate: (c: CreateContext<RoomState, undefined, undefined>): number => c.state.lines.length,
  createVars: (c: CreateVarsContext<RoomState, undefined, undefined>): number => c.state.lines.length,
  onBeforeConnect: (c: BeforeConnectContext<RoomState, undefined, undefined, undefined>): Request | undefined =>
    c.request,
  createConnState: (c: CreateConnStateContext<RoomState, undefined, undefined, undefined>): number =>
    c.state.lines.length,
  run: (c: RunContext<RoomState, Params, Presence, undefined, undefined, undefined>): number => c.state.lines.length,
} satisfies Record<string, (c: never, ...rest: never[]) => unknown> & { readonly six?: Six };

// a run handler without type arguments, a connection without any
export const background: RunConfig = {
  name: "background",
  icon: "gear",
  run: async (c) => {
    exactly<string>()(c.actorId);
  },
};
export const idOf = (conn: Conn): string => conn.id;

// helpers by the actor's own type, in createState too
export const order = actor({
  createState: (c, input: { total: number }): { total: number; label: string } => ({
    total: input.total,
    label: label(c),
  }),
  onCreate: (c) => {
    c.state.label = label(c);
  },
  actions: { get: (c) => c.state },
});
function label(c: CreateContextOf<typeof order>): string {
  return c.key.join("/");
}
export const early = actor({
  createState: (c) => {
    // @ts-expect-error there is no state yet
    void c.state.total;
    return { total: 0 };
  },
});

// the database behind a provider
exactly<RawAccess>()({} as InferDatabaseClient<DatabaseProvider<RawAccess>>);
exactly<RawAccess>()({} as InferDatabaseClient<undefined>);
const provider: AnyDatabaseProvider = db();
export const custom: DatabaseProvider<RawAccess & { readonly owner: string }> = {
  createClient: async (ctx) => Object.assign(await db().createClient(ctx), { owner: ctx.actorId }),
  onMigrate: async (client) => {
    await client.execute("CREATE TABLE IF NOT EXISTS t (id INTEGER)");
  },
};
export const owned = actor({
  db: custom,
  actions: { owner: async (c) => exactly<string>()(c.db.owner) },
});
void provider;

// what drizzle-kit writes for its drivers
const journal = {
  version: "7",
  dialect: "sqlite",
  entries: [{ idx: 0, version: "6", when: 1, tag: "0000_first", breakpoints: true }],
};
drizzleDb({ migrations: { journal, migrations: { m0000: "CREATE TABLE t (id INTEGER)" } } });
drizzleDb({ migrations: { journal: journal as unknown, migrations: { m0000: "" as any } } });

// queues by a type argument, under a name
type Declared = ReturnType<typeof queue<{ id: string }>>;
exactly<QueueDeclaration<{ id: string }, undefined>>()({} as Declared);

// a client without types: anything goes, and listeners get something
export async function untyped(): Promise<void> {
  const client = createClient("http://localhost:6420");
  const handle = client["room"]!.getOrCreate(["a"]);
  const result = await handle["say"]!("hello");
  void result.anything.at.all;
  const connection = handle.connect();
  connection.on("line", (line) => line.text.toUpperCase());
  connection.once("line", (line, second) => [line, second]);
  connection.onError((error) => error.code);
  await connection["say"]!(1);
  await connection.dispose();
  client.get("room", "a");
  client
    .getOrCreate("room", ["a"])
    .connect()
    .on("line", (line) => line.text);
  const anyHandle: ActorHandle<any> = handle;
  const anyConnection: ActorConn<any> = connection;
  await anyHandle["say"]!(1);
  anyConnection.on("x", (x) => x.y);
  const definition: ActorHandle<AnyActorDefinition> = handle;
  await definition["say"]!(1);
}

// skipReadyWait is taken wherever RivetKit takes it
export async function ready(client: Client<typeof registry>): Promise<void> {
  const handle = client.room.getOrCreate("a");
  await handle.fetch("/x", { method: "POST", skipReadyWait: true });
  await handle.webSocket("/x", [], { skipReadyWait: true });
  await handle.action({ name: "say", args: ["x"], skipReadyWait: true });
  handle.connect({ user: "a" }, { skipReadyWait: true });
  client.room.get("a", { skipReadyWait: true });
}

// a registry is what it has, not what made it
const registry = setup({ use: { room, order } });
export async function routes(): Promise<Response[]> {
  return [await registry.routes.health(), await registry.routes.metadata()];
}
type Copy = {
  readonly [K in keyof Registry<{ room: typeof room; order: typeof order }>]: Registry<{
    room: typeof room;
    order: typeof order;
  }>[K];
};
export const copied: Registry<{ room: typeof room; order: typeof order }> = {} as Copy;
export const anyRegistry: Registry<any> = registry;
// what takes a client knows its registry
declare function withClient<R extends Registry<any>>(client: Client<R>): keyof ExtractActorsFromRegistry<R>;
exactly<"room" | "order">()(withClient(createClient<typeof registry>("http://localhost:6420")));
exactly<"room" | "order">()({} as keyof ExtractActorsFromRegistry<typeof registry>);
