import { actor, setup } from "../../src/actor/index.js";
import { decodeValue } from "../../src/protocol/index.js";
import { ManualClock, type MemorySocket } from "../../src/testing/index.js";
import { seededRandom } from "../support/seeded-random.js";
import { testWorld } from "../support/test-world.js";
import { occasionalCrashes } from "./faults.js";

/** What a run of random clients and faults came to. */
export interface ConnectionsResult {
  readonly seed: number;
  readonly commits: number;
  readonly crashes: number;
  readonly evictions: number;
  readonly events: number;
  readonly violations: string[];
  /** Everything that happened, in order: two runs of one seed must agree. */
  readonly trace: string;
}

interface RoomState {
  /** Announcements made. */
  n: number;
  /** Who is present, by the params of their connection, as `onConnect` and `onDisconnect` count. */
  present: Record<string, number>;
}

/** One client's socket, and what it must see. */
interface Client {
  readonly id: string;
  readonly socket: MemorySocket;
  subscribedFrom: number | undefined;
}

const STEPS = 40;

/**
 * An actor that counts who is present and announces numbers; clients that come, subscribe, announce and go; evictions,
 * and deaths at commits and at port calls.
 */
export async function simulateConnections(seed: number): Promise<ConnectionsResult> {
  const random = seededRandom(seed);
  const clock = new ManualClock();
  const crashRate = [0, 0.02, 0.08][seed % 3] ?? 0;
  const violations: string[] = [];
  const trace: string[] = [];
  const say = (what: string): void => void (violations.length < 20 && violations.push(what));
  const delay = (c: { state: RoomState }, ms: number): Promise<void> | undefined =>
    c.state.n % 3 === 0 ? clock.delay(ms) : undefined;
  const fault = occasionalCrashes(random, crashRate);
  let isFaulty = true;
  let portCalls = 0;
  let evictions = 0;
  let durable = 0;

  const room = actor({
    state: { n: 0, present: {} } as RoomState,
    connState: { said: 0 },
    onBeforeConnect: (c, _params: string) => delay(c, 1),
    onConnect: async (c, conn) => {
      c.state.present[conn.params] = (c.state.present[conn.params] ?? 0) + 1;
      await delay(c, 1);
    },
    onDisconnect: async (c, conn) => {
      await delay(c, 1);
      // After the last await: exactly once.
      c.state.present[conn.params] = (c.state.present[conn.params] ?? 0) - 1;
      if (c.state.present[conn.params] === 0) delete c.state.present[conn.params];
    },
    actions: {
      announce: (c) => {
        c.state.n += 1;
        c.conn.state.said += 1;
        c.broadcast("n", c.state.n);
        return c.conn.state.said;
      },
      touch: (c) => c.state.n,
      present: (c) => c.state.present,
    },
  });
  const world = testWorld(setup({ use: { room } }), {
    clock,
    fault: (_, commit) => (isFaulty ? fault(commit) : undefined),
    portFault: () => {
      portCalls += 1;
      return isFaulty && crashRate > 0 && portCalls % 97 === 0 && random() < crashRate * 3;
    },
    onCommit: (_, rows, alarmAt) => {
      const bytes = rows.get("s");
      if (bytes) durable = Math.max(durable, (decodeValue(bytes) as RoomState).n);
      trace.push(`${clock.now()} commit ${[...rows.keys()].join()} alarm ${alarmAt}`);
    },
    onLog: (level, entry) => {
      if (
        level === "error" &&
        !/lost|not served|onDisconnect failed|The end of a call failed/.test(String((entry as { msg?: string }).msg))
      )
        say(`log: ${JSON.stringify(entry)}`);
    },
  });
  const subject = world.actor("room", ["k"]);
  const clients: Client[] = [];
  /** Something that the process may die under; then it never settles by itself. */
  const attempt = async (what: string, something: Promise<unknown>): Promise<unknown> => {
    let done = false;
    const watched = Promise.race([
      something.then(
        (value) => ({ value }),
        () => undefined,
      ),
      subject.died().then(() => undefined),
    ]).finally(() => (done = true));
    for (let rounds = 0; rounds < 100 && !done; rounds += 1) await world.pass(1);
    trace.push(`${clock.now()} ${what}`);
    return (await watched)?.value;
  };

  let names = 0;
  for (let step = 0; step < STEPS; step += 1) {
    const client = clients[Math.floor(random() * clients.length)];
    const kind = random();
    if (!client || kind < 0.2) {
      const id = `c${(names += 1)}`;
      const socket = (await attempt(
        `connect ${id}`,
        subject.connect({ params: id, encoding: (["json", "cbor", "bare"] as const)[names % 3] ?? "json" }),
      )) as MemorySocket | undefined;
      if (socket) clients.push({ id, socket, subscribedFrom: undefined });
    } else if (kind < 0.45 && client.subscribedFrom === undefined) {
      await attempt(
        `subscribe ${client.id}`,
        client.socket.subscribe("n").then(() => client.socket.isOpen && (client.subscribedFrom ??= durable + 1)),
      );
    } else if (kind < 0.7) {
      await attempt(`announce ${client.id}`, client.socket.call(step, "announce"));
    } else if (kind < 0.76) {
      await attempt(`hang up ${client.id}`, client.socket.hangUp(random() < 0.5 ? 1000 : 1006));
    } else if (kind < 0.85) {
      evictions += 1;
      await attempt("evict", subject.evict());
    } else if (kind < 0.85 + crashRate) {
      subject.crash();
      trace.push(`${clock.now()} crash`);
    } else {
      await attempt("touch", subject.call("touch"));
    }
    check(clients, durable, say);
  }

  // What was lost is told at the next start: with no fault any more, one touch after the last death is enough.
  isFaulty = false;
  await world.pass(400_000);
  await attempt("evict", subject.evict());
  await attempt("touch", subject.call("touch"));
  await world.passUntilQuiet(3_600_000);
  check(clients, durable, say);
  const open = clients.filter(({ socket }) => socket.isOpen);
  const rows = subject.store.dump();
  const state = decodeValue(rows.get("s") as Uint8Array) as RoomState;
  const counted = Object.entries(state.present)
    .map(([id, times]) => `${id} ${times}`)
    .sort()
    .join();
  const wanted = open
    .map(({ id }) => `${id} 1`)
    .sort()
    .join();
  if (counted !== wanted) say(`present are ${counted}, connected are ${wanted}`);
  const stored = [...rows.keys()].filter((key) => key.startsWith("c/")).length;
  if (stored !== open.length) say(`${stored} rows for ${open.length} connections`);
  if (subject.store.alarmAt !== null) say(`an alarm is left at ${subject.store.alarmAt}`);
  if (subject.timersHeld > 0) say("a timer is left");
  const events = clients.reduce((sum, { socket }) => sum + socket.events.length, 0);
  return {
    seed,
    commits: subject.store.commits,
    crashes: subject.crashes,
    evictions,
    events,
    violations,
    trace: trace.join("\n"),
  };
}

/** Each subscribed client has seen every announcement since, once, in order, and none before it was durable. */
function check(clients: readonly Client[], durable: number, say: (what: string) => void): void {
  for (const { id, socket, subscribedFrom } of clients) {
    const [first, ...frames] = socket.received;
    if (first && first.tag !== "Init") say(`${id} was sent ${first.tag} before it was let in`);
    if (frames.some(({ tag }) => tag === "Init")) say(`${id} was let in twice`);
    const seen = socket.events.map(([, n]) => n as number);
    if (seen.some((n, index) => index > 0 && n !== (seen[index - 1] ?? 0) + 1)) say(`${id} saw ${seen.join()}`);
    if (seen.some((n) => n > durable)) say(`${id} saw ${seen.at(-1)} while ${durable} was durable`);
    if (subscribedFrom !== undefined && socket.isOpen && durable >= subscribedFrom && (seen.at(-1) ?? 0) !== durable)
      say(`${id} missed what came after ${seen.at(-1)}, up to ${durable}`);
  }
}
