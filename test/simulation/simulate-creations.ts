import { DatabaseSync } from "node:sqlite";
import { actor, db, queue, setup, workflow } from "../../src/actor/index.js";
import {
  decodeValue,
  encodeInput,
  encodeValue,
  ENVELOPE_VERSION,
  UserError,
  type CallEnvelope,
  type CallOperation,
} from "../../src/protocol/index.js";
import { ManualClock, type WorldActor } from "../../src/testing/index.js";
import { seededRandom } from "../support/seeded-random.js";
import { testWorld } from "../support/test-world.js";
import { occasionalCrashes } from "./faults.js";

/** What a run of callers, some of whom are refused, and of faults came to. */
export interface CreationsResult {
  readonly commits: number;
  readonly crashes: number;
  readonly lives: number;
  readonly refusals: number;
  readonly violations: string[];
  readonly trace: string;
}

const HOOKS = [
  "canCreate",
  "onMigrate",
  "createState",
  "onCreate",
  "createVars",
  "onWake",
  "onBeforeConnect",
  "createConnState",
] as const;
type Hook = (typeof HOOKS)[number];

/** A caller: where it is refused, if it is; what it brings is its name. */
interface Visitor {
  readonly name: string;
  readonly refusedBy: Hook | undefined;
  /** It creates and asks for nothing more: it is no connection, and the last two hooks are not asked. */
  readonly isMere: boolean;
}

interface State {
  readonly creator: string;
  hooks: string[];
  calls: number;
}

const ROUNDS = 25;

/**
 * Actors that come to be and are destroyed, by callers of whom some are refused by one hook or another, several at a time; deaths at
 * commits and at port calls, evictions. Whoever is refused has left nothing, nobody is refused for another, and nothing runs of
 * an actor that is not stored.
 */
export async function simulateCreations(seed: number): Promise<CreationsResult> {
  const random = seededRandom(seed);
  const clock = new ManualClock();
  const crashRate = [0, 0.05, 0.15][seed % 3] ?? 0;
  const withDatabase = seed % 2 === 0;
  // With nothing that begins beside the first call, whose commit then is the creation's.
  const isPlain = seed % 4 === 1;
  const violations: string[] = [];
  const trace: string[] = [];
  const say = (what: string): void => void (violations.length < 20 && violations.push(what));
  const visitors = new Map<string, Visitor>();
  /** Ids of lives that a commit has stored, and of those whose workflow ran. */
  const stored = new Set<string>();
  /** Ids of lives whose `onDestroy` has run. */
  const ended = new Set<string>();
  const fault = occasionalCrashes(random, crashRate);
  let isFaulty = true;
  let [portCalls, commits, crashes, refusals] = [0, 0, 0, 0];

  const hook = async (name: Hook, c: unknown, who: string | undefined): Promise<void> => {
    const context = c as {
      kv: { put(key: string, value: string): Promise<void> };
      db: { execute(sql: string, ...values: unknown[]): Promise<unknown> };
      state: State;
    };
    if (isFaulty && random() < 0.3) await clock.delay(1);
    if (name !== "canCreate" && random() < 0.5) await context.kv.put(`${name} ${who}`, "x");
    if (name !== "canCreate" && withDatabase && random() < 0.5) {
      await context.db.execute("create table if not exists t (x)");
      await context.db.execute("insert into t values (?)", who);
    }
    if (!["canCreate", "onMigrate", "createState"].includes(name)) context.state.hooks.push(`${name} ${who}`);
    if (isFaulty && random() < 0.3) await clock.delay(1);
    if (visitors.get(who ?? "")?.refusedBy === name) throw new UserError(`${who}`, { code: "refused" });
  };
  /** By the id that the actor will have: not all hooks are told who creates. */
  const creators = new Map<string, string>();
  const creatorOf = (c: { readonly actorId: string }): string | undefined => creators.get(c.actorId);
  /** What runs beside the first call of a new actor. */
  const joining: object = isPlain
    ? {}
    : {
        onBeforeConnect: (c: unknown, params: string) => hook("onBeforeConnect", c, params),
        createConnState: async (c: unknown, params: string) => {
          await hook("createConnState", c, params);
          return {};
        },
        run: workflow(async (ctx) => {
          await ctx.step("charge", (step) => {
            if (!stored.has(step.actorId)) say(`the workflow of ${step.actorId} ran before its creation was stored`);
          });
          await ctx.sleep("long", 50);
        }),
      };
  const subject = actor({
    ...(withDatabase && { db: db() }),
    queues: { orders: queue<string>() },
    canCreate: async (c, input: string, params: string | undefined) => {
      if (params !== undefined && params !== input) say(`${input} was asked for with the params of ${params}`);
      creators.set(c.actorId, input);
      await hook("canCreate", c, input);
    },
    // Those of an existing actor refuse nobody: they would fail starts that are no creation.
    onMigrate: (c, isNew) => (isNew ? hook("onMigrate", c, creatorOf(c)) : undefined),
    createState: async (c, input: string): Promise<State> => {
      if (creatorOf(c) !== input) say(`${input} makes what ${creatorOf(c)} was let create`);
      await hook("createState", c, input);
      return { creator: input, hooks: [], calls: 0 };
    },
    onCreate: (c, input: string) => hook("onCreate", c, input),
    createVars: async (c) => {
      if (!stored.has(c.actorId)) await hook("createVars", c, creatorOf(c));
      return {};
    },
    onWake: (c) => (stored.has(c.actorId) ? undefined : hook("onWake", c, creatorOf(c))),
    onRequest: (c) => new Response((c.state as State).creator),
    onDestroy: (c) => void ended.add(c.actorId),
    ...joining,
    actions: {
      look: (c) => {
        if (ended.has(c.actorId)) say(`an action of ${c.actorId} began after its onDestroy`);
        (c.state as State).calls += 1;
        return (c.state as State).creator;
      },
      end: (c) => c.destroy(),
    },
  });
  const world = testWorld(setup({ use: { subject } }), {
    clock,
    openDatabase: () => new DatabaseSync(":memory:"),
    fault: (_, commit) => (isFaulty ? fault(commit) : undefined),
    portFault: () => {
      portCalls += 1;
      return isFaulty && crashRate > 0 && portCalls % 61 === 0 && random() < crashRate * 3;
    },
    onCommit: ({ key }, rows, alarmAt) => {
      commits += 1;
      trace.push(`${clock.now()} ${key.join()} ${[...rows.keys()].join()} alarm ${alarmAt}`);
      const record = rows.get("a");
      if (!record) return void (rows.size > 0 && say(`rows without a record: ${[...rows.keys()].join()}`));
      const { actorId, destroyed } = decodeValue(record) as { actorId: string; destroyed?: unknown };
      const state = decodeValue(rows.get("s") as Uint8Array) as State;
      if (!stored.has(actorId) && !destroyed) checkFirst(actorId, state);
      stored.add(actorId);
    },
  });
  const checkFirst = (actorId: string, state: State): void => {
    const { creator, hooks } = state;
    const visitor = visitors.get(creator) as Visitor;
    const asked = HOOKS.slice(0, visitor.isMere || isPlain ? HOOKS.indexOf("onBeforeConnect") : HOOKS.length);
    if (visitor.refusedBy && asked.includes(visitor.refusedBy))
      say(`${actorId} is stored for ${creator}, whom ${visitor.refusedBy} refuses`);
    const ran = hooks.map((each) => each.split(" ")[0]);
    const expected = asked.slice(HOOKS.indexOf("onCreate"));
    if (ran.join() !== expected.join()) say(`${actorId} is stored after ${ran.join()}`);
    if (hooks.some((each) => each.split(" ")[1] !== creator)) say(`${actorId} of ${creator} holds ${hooks.join()}`);
  };

  const OPERATIONS: readonly CallOperation[] = [
    { kind: "action", name: "look", args: encodeValue([]) },
    { kind: "send", queue: "orders", body: encodeValue("x") },
    { kind: "request" },
    { kind: "resolve" },
    { kind: "resolve", forCaller: true },
  ];
  let names = 0;
  const visit = async (at: WorldActor): Promise<void> => {
    const refusedBy = random() < 0.5 ? HOOKS[Math.floor(random() * HOOKS.length)] : undefined;
    const operation = OPERATIONS[Math.floor(random() * OPERATIONS.length)] as CallOperation;
    const visitor: Visitor = {
      name: `v${(names += 1)}`,
      refusedBy,
      isMere: operation.kind === "resolve" && operation.forCaller !== true,
    };
    visitors.set(visitor.name, visitor);
    const envelope: CallEnvelope = {
      v: ENVELOPE_VERSION,
      address: { name: at.name, key: at.key },
      creation: { mode: random() < 0.2 ? "create" : "getOrCreate", input: encodeInput(visitor.name) },
      operation,
      ...(!isPlain && { params: encodeValue(visitor.name) }),
    };
    const delivered =
      operation.kind === "request" ? at.deliverRequest(envelope, new Request("http://actor/")) : at.deliver(envelope);
    const reply = await Promise.race([delivered.catch(() => undefined), at.died().then(() => undefined)]);
    const outcome =
      reply === undefined
        ? "died"
        : reply.ok
          ? "ok"
          : `${reply.error.group}/${reply.error.code} ${reply.error.message}`;
    trace.push(`${clock.now()} ${visitor.name} ${operation.kind} ${outcome}`);
    if (reply === undefined || reply.ok) return;
    if (reply.error.code === "refused") refusals += 1;
    if (reply.error.code === "refused" && reply.error.message !== visitor.name)
      say(`${visitor.name} was told the refusal of ${reply.error.message}`);
    if (reply.error.code === "refused" && !refusedBy) say(`${visitor.name} was refused`);
    if (!["refused", "duplicate_key", "restarting", "destroyed"].includes(reply.error.code))
      say(`${visitor.name}: ${outcome}`);
  };

  const places = [["a"], ["b"]].map((key) => world.actor("subject", key));
  for (let round = 0; round < ROUNDS; round += 1) {
    const at = places[Math.floor(random() * places.length)] as WorldActor;
    const kind = random();
    let done = false;
    // A destroy may come while they create the actor.
    const visits = kind < 0.78 ? Array.from({ length: 1 + Math.floor(random() * 3) }, () => visit(at)) : [];
    if (kind >= 0.7 && kind < 0.85)
      visits.push(
        at.send({ mode: "get" }, { kind: "destroy" }).then(
          () => {},
          () => {},
        ),
      );
    else if (kind >= 0.85 && kind < 0.92) visits.push(at.evict().catch(() => {}));
    else if (kind >= 0.92 && crashRate > 0) at.crash();
    void Promise.all(visits).then(() => (done = true));
    for (let turns = 0; turns < 200 && !done; turns += 1) await world.pass(1);
    if (!done) say(`round ${round} did not end`);
  }
  isFaulty = false;
  await world.passUntilQuiet(3_600_000);
  for (const at of places) {
    crashes += at.crashes;
    const honest: Visitor = { name: `last-${at.key.join()}`, refusedBy: undefined, isMere: false };
    visitors.set(honest.name, honest);
    const reply = await at.deliver({
      v: ENVELOPE_VERSION,
      address: { name: at.name, key: at.key },
      creation: { mode: "getOrCreate", input: encodeInput(honest.name) },
      operation: OPERATIONS[0] as CallOperation,
      params: encodeValue(honest.name),
    });
    if (!reply.ok) say(`in the end ${at.key.join()} serves nobody: ${reply.error.code}`);
  }
  return { commits, crashes, lives: stored.size, refusals, violations, trace: trace.join("\n") };
}
