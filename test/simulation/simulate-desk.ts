import { setup } from "../../src/actor/index.js";
import { decodeValue, encodeValue } from "../../src/protocol/index.js";
import { ManualClock, type CommitFault, type MemorySocket, type WorldActor } from "../../src/testing/index.js";
import { seededRandom } from "../support/seeded-random.js";
import { testWorld } from "../support/test-world.js";
import { deskActor, type DeskState } from "./desk-actor.js";
import { occasionalCrashes } from "./faults.js";

export interface DeskResult {
  readonly seed: number;
  readonly commits: number;
  readonly crashes: number;
  readonly evictions: number;
  /** Lives of the key that were ended. */
  readonly destroyed: number;
  /** Things done by clients, and what of them was acknowledged. */
  readonly operations: number;
  readonly acknowledged: number;
  /** Events and raw frames that clients have received. */
  readonly received: number;
  readonly violations: string[];
  readonly trace: string;
}

export interface DeskOptions {
  /** Instead of the seed's own crashes: one, at this commit. */
  readonly crash?: { readonly commit: number; readonly kind: "crash-before" | "crash-after" | "refuse" };
}

/** A client's socket, and what it must see. */
interface Client {
  readonly name: string;
  readonly socket: MemorySocket;
  readonly isRaw: boolean;
  /** The life that let it in; of a raw one unknown until it is answered. */
  life: string | undefined;
  subscribedFrom: number | undefined;
}

/** What a life is known to have promised. */
interface Promised {
  readonly orders: Set<string>;
  readonly hits: Set<string>;
}

const STEPS = 45;

/** One program of workflow, queue, connections, raw requests and raw sockets, with random clients, deaths and evictions. */
export async function simulateDesk(seed: number, options: DeskOptions = {}): Promise<DeskResult> {
  const random = seededRandom(seed);
  const clock = new ManualClock();
  const crashRate = options.crash ? 0 : ([0, 0.02, 0.06, 0.12][seed % 4] ?? 0);
  const violations: string[] = [];
  const trace: string[] = [];
  const say = (what: string): void =>
    void (violations.length < 20 && violations.push(`${clock.now() % 1_000_000_000} ${what}`));
  const fault = faultOf(options, random, crashRate);
  const durable = new Map<string, DeskState>();
  const committed = new Map<string, DeskState>();
  const promised = new Map<string, Promised>();
  const clients: Client[] = [];
  const totals = { evictions: 0, operations: 0, acknowledged: 0, parts: 0 };
  let isFaulty = true;
  let portCalls = 0;
  let names = 0;

  const world = testWorld(setup({ use: { desk: deskActor(clock) } }), {
    clock,
    fault: (_, commit) => (isFaulty ? fault(commit) : undefined),
    portFault: () => {
      portCalls += 1;
      return isFaulty && crashRate > 0 && portCalls % 89 === 0 && random() < crashRate * 3;
    },
    deleteFault: () =>
      isFaulty && random() < crashRate * 2
        ? (["refuse", "crash-before", "crash-after"] as const)[Math.floor(random() * 3)]
        : undefined,
    onCommit: (_, rows, alarmAt) => {
      remember(committed, rows);
      trace.push(`${clock.now()} commit ${[...rows.keys()].join()} alarm ${alarmAt}`);
    },
    onDurable: (_, rows) => {
      remember(durable, rows);
      // Deleted in the turn of its last commit: that one counts, though nothing is left of it.
      if (rows.size === 0) for (const [life, state] of committed) durable.set(life, state);
    },
    onLog: (level, entry) => {
      const line = JSON.stringify(entry);
      trace.push(`${clock.now()} ${level} ${(entry as { msg?: string }).msg}`);
      if (
        level === "fatal" ||
        (line.includes("internal error") && !/CrashError|after a change|The store refuses/.test(line))
      )
        say(`log: ${line}`);
    },
  });
  const subject = world.actor("desk", ["k"]);

  /** Something that the process may die under: then it never settles by itself. */
  const attempt = async <T>(what: string, something: Promise<T>): Promise<T | undefined> => {
    let done = false;
    const watched = Promise.race([something.catch(() => undefined), subject.died().then(() => undefined)]).finally(
      () => (done = true),
    );
    for (let rounds = 0; rounds < 200 && !done; rounds += 1) await world.pass(1);
    if (!done) say(`${what} came to no end`);
    trace.push(`${clock.now()} ${what}`);
    return done ? await watched : undefined;
  };
  const promisesOf = (life: string): Promised => {
    const known = promised.get(life) ?? { orders: new Set(), hits: new Set() };
    promised.set(life, known);
    return known;
  };
  const acknowledge = (life: string | undefined, kind: keyof Promised, name: string): void => {
    if (life === undefined) return;
    totals.acknowledged += 1;
    promisesOf(life)[kind].add(name);
  };
  const check = (): void => {
    for (const client of clients) (client.isRaw ? checkRaw : checkClient)(client, durable, say);
    for (const [life, { booked, shipped, hits }] of durable) {
      if (new Set(booked).size < booked.length) say(`booked twice: ${booked.join()}`);
      if (shipped.some((name, at) => name !== booked[at])) say(`shipped ${shipped.join()} of ${booked.join()}`);
      for (const [name, times] of Object.entries(hits)) if (times > 1) say(`request ${name} was served ${times} times`);
      for (const name of promised.get(life)?.hits ?? [])
        if (hits[name] !== 1) say(`request ${name} was answered, and is not durable`);
    }
  };

  const connect = async (isRaw: boolean): Promise<void> => {
    const name = `c${(names += 1)}`;
    const encoding = (["json", "cbor", "bare"] as const)[names % 3] ?? "json";
    const socket = await attempt(`connect ${name}`, subject.connect({ params: name, encoding, raw: isRaw }));
    if (!socket) return;
    await world.settle();
    const [init] = socket.received;
    clients.push({
      name,
      socket,
      isRaw,
      life: init?.tag === "Init" ? init.val.actorId : undefined,
      subscribedFrom: undefined,
    });
  };
  const stream = async (): Promise<void> => {
    const response = await attempt("stream", subject.fetch("/stream"));
    const reader = response?.body?.getReader();
    for (let read = 0; reader && read < 4; read += 1) {
      if (random() < 0.15) return void (await attempt("stream cancelled", reader.cancel()));
      const part = await attempt("part", reader.read() as Promise<ReadableStreamReadResult<Uint8Array>>);
      if (!part || part.done) return;
      totals.parts += 1;
      const [n, life = ""] = new TextDecoder().decode(part.value).split(" ");
      if (Number(n) > (committed.get(life)?.parts ?? 0)) say(`part ${n} left before its commit`);
    }
  };
  const operations: readonly (readonly [
    weight: number,
    run: (client: Client | undefined, name: string) => Promise<unknown>,
  ])[] = [
    [9, () => connect(false)],
    [4, () => connect(true)],
    [
      7,
      async (client) => {
        if (!client || client.isRaw || client.subscribedFrom !== undefined) return;
        await attempt(`subscribe ${client.name}`, client.socket.subscribe("n"));
        const state = durable.get(client.life ?? "");
        if (client.socket.isOpen && state) client.subscribedFrom = state.n + 1;
      },
    ],
    [
      8,
      async (client, name) => {
        if (client?.isRaw) return attempt(`frame ${client.name}`, client.socket.sayRaw(name));
        if (client) return attempt(`announce ${client.name}`, client.socket.call(1, "announce"));
        return undefined;
      },
    ],
    [3, async (client) => client && !client.isRaw && attempt(`fail ${client.name}`, client.socket.call(2, "fail"))],
    [3, async (client) => client && !client.isRaw && attempt(`leave ${client.name}`, client.socket.call(3, "leave"))],
    [
      9,
      async (_, name) =>
        acknowledge(
          (await attempt(`order ${name}`, subject.call("order", name))) as string | undefined,
          "orders",
          name,
        ),
    ],
    [
      5,
      async (_, name) => {
        const reply = await attempt(
          `send ${name}`,
          subject.send({ mode: "getOrCreate" }, { kind: "send", queue: "orders", body: encodeValue(name) }),
        );
        if (reply?.ok) acknowledge(reply.actorId, "orders", name);
      },
    ],
    [
      9,
      async (_, name) => {
        const response = await attempt(`hit ${name}`, subject.fetch("/hit", { method: "POST", body: name }));
        const answer = response && (await attempt("answer", response.json()));
        acknowledge((answer as { life: string } | undefined)?.life, "hits", name);
      },
    ],
    [5, stream],
    [
      6,
      async (client) => client && attempt(`hang up ${client.name}`, client.socket.hangUp(random() < 0.5 ? 1000 : 1006)),
    ],
    [
      9,
      () => {
        totals.evictions += 1;
        return attempt("evict", subject.evict());
      },
    ],
    [
      4,
      async () => {
        trace.push(`${clock.now()} crash`);
        if (crashRate > 0) subject.crash();
      },
    ],
    [6, () => world.pass(Math.floor(random() * 1_000))],
    [3, () => attempt("spurious alarm", subject.fireAlarm())],
    [1, async (client) => client && !client.isRaw && attempt("end by a socket", client.socket.call(4, "end"))],
    [1, () => attempt("end by a request", subject.fetch("/end"))],
  ];

  for (let step = 0; step < STEPS; step += 1) {
    const client = clients[Math.floor(random() * clients.length)];
    const run = pick(operations, random);
    totals.operations += 1;
    await run(client?.socket.isOpen ? client : undefined, `o${step}`);
    await world.settle();
    check();
  }

  isFaulty = false;
  for (let rounds = 0; rounds < 3; rounds += 1) {
    await world.pass(400_000);
    await attempt("evict", subject.evict());
    await attempt("touch", subject.call("touch"));
  }
  await world.passUntilQuiet(3_600_000);
  check();
  checkEnd(subject, clients, promised, say);
  const received = clients.reduce((sum, { socket }) => sum + socket.events.length + socket.frames.length, totals.parts);
  const destroyed = Math.max(0, durable.size - 1);
  return {
    seed,
    commits: subject.store.commits,
    crashes: subject.crashes,
    evictions: totals.evictions,
    destroyed,
    operations: totals.operations,
    acknowledged: totals.acknowledged,
    received,
    violations,
    trace: trace.join("\n"),
  };
}

function faultOf({ crash }: DeskOptions, random: () => number, rate: number): CommitFault {
  if (crash) return (commit) => (commit === crash.commit ? crash.kind : undefined);
  const crashes = occasionalCrashes(random, rate);
  // A store that refuses a write ends the object as well, by its own hand.
  return (commit) => {
    const kind = crashes(commit);
    return kind && random() < 0.2 ? "refuse" : kind;
  };
}

function pick<T>(choices: readonly (readonly [weight: number, choice: T])[], random: () => number): T {
  let roll = random() * choices.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, choice] of choices) {
    roll -= weight;
    if (roll < 0) return choice;
  }
  return (choices[0] as readonly [number, T])[1];
}

function remember(states: Map<string, DeskState>, rows: ReadonlyMap<string, Uint8Array>): void {
  const bytes = rows.get("s");
  if (!bytes) return;
  const state = decodeValue(bytes) as DeskState;
  states.set(state.life, state);
}

/** Let in first, then every announcement since it subscribed: once, in order, and none before it was durable. */
function checkClient(
  { name, socket, life = "", subscribedFrom }: Client,
  durable: ReadonlyMap<string, DeskState>,
  say: (what: string) => void,
): void {
  const n = durable.get(life)?.n ?? 0;
  const [first, ...frames] = socket.received;
  if (first && first.tag !== "Init") say(`${name} was sent ${first.tag} before it was let in`);
  if (frames.some(({ tag }) => tag === "Init")) say(`${name} was let in twice`);
  const seen = socket.events.map(([, each]) => each as number);
  if (seen.some((each, at) => at > 0 && each !== (seen[at - 1] ?? 0) + 1)) say(`${name} saw ${seen.join()}`);
  if (seen.some((each) => each > n)) say(`${name} saw ${seen.at(-1)} while ${n} was durable`);
  if (subscribedFrom !== undefined && socket.isOpen && n >= subscribedFrom && seen.at(-1) !== n)
    say(`${name} missed what came after ${seen.at(-1)}, up to ${n}`);
}

/** Each answer to a frame is durable, and none comes twice. */
function checkRaw(client: Client, durable: ReadonlyMap<string, DeskState>, say: (what: string) => void): void {
  let last = 0;
  for (const frame of client.socket.frames) {
    const [n, life = ""] = String(frame).split(" ");
    client.life ??= life;
    if (life !== client.life) say(`${client.name} was answered by ${life} and ${client.life}`);
    if (Number(n) <= last) say(`${client.name} was answered ${n} after ${last}`);
    if (Number(n) > (durable.get(life)?.frames ?? 0)) say(`${client.name} was answered ${n}, which is not durable`);
    last = Number(n);
  }
}

/** All is quiet: what was promised has been kept, who is open is present, and nothing is held. */
function checkEnd(
  subject: WorldActor,
  clients: readonly Client[],
  promised: ReadonlyMap<string, Promised>,
  say: (what: string) => void,
): void {
  const rows = subject.store.dump();
  const state = decodeValue(rows.get("s") as Uint8Array) as DeskState;
  const open = clients.filter(({ socket }) => socket.isOpen);
  for (const { name, life } of open)
    if (life !== undefined && life !== state.life) say(`${name} is open, though its actor is gone`);
  const present = Object.entries(state.present)
    .map(([name, times]) => `${name} ${times}`)
    .sort()
    .join();
  const wanted = open
    .map(({ name }) => `${name} 1`)
    .sort()
    .join();
  if (present !== wanted) say(`present are ${present}, connected are ${wanted}`);
  const stored = [...rows.keys()].filter((key) => key.startsWith("c/")).length;
  if (stored !== open.length) say(`${stored} rows for ${open.length} connections`);
  for (const name of promised.get(state.life)?.orders ?? [])
    if (!state.shipped.includes(name)) say(`order ${name} was acknowledged, and never shipped`);
  if (state.shipped.length < state.booked.length) say(`booked ${state.booked.join()}, shipped ${state.shipped.join()}`);
  const queued = [...rows.keys()].filter((key) => key.startsWith("m/") || key.startsWith("d/"));
  if (queued.length > 0) say(`left over: ${queued.join()}`);
  // Its workflow waits for messages, and is looked after a year later.
  if (subject.holdsLease) say(`a lease is left: alarm at ${subject.store.alarmAt}`);
  if (subject.timersHeld > 0) say("a timer is left");
}
