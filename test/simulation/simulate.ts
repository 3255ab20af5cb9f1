import { decodeValue } from "../../src/protocol/index.js";
import { ManualClock, type World, type WorldActor } from "../../src/testing/index.js";
import { decodeEntry, History, type Entry } from "../../src/workflow/internal.js";
import { seededRandom } from "../support/seeded-random.js";
import { testWorld } from "../support/test-world.js";
import { Disturber, randomDisturbances, type Ledger } from "./disturbances.js";
import { occasionalCrashes } from "./faults.js";
import { programRegistry, type ProgramState } from "./interpreter.js";
import { randomProgram, type Program } from "./programs.js";

export interface SimulationResult {
  readonly seed: number;
  readonly program: Program;
  readonly commits: number;
  readonly crashes: number;
  readonly violations: string[];
  /** Everything that happened, in order: two runs of one seed must agree. */
  readonly trace: string;
}

const HOUR_MS = 3_600_000;
const FIRST_RETRY_MS = 10_000;
const LAST_RETRY_MS = 300_000;

/** Runs the program of a seed with crashes at commits and in between, and checks the invariants all the time. */
export async function simulate(seed: number): Promise<SimulationResult> {
  const random = seededRandom(seed);
  const program = randomProgram(random);
  const clock = new ManualClock();
  const violations: string[] = [];
  const trace: string[] = [];
  const running = new Map<string, number>();
  const crashRate = [0, 0.03, 0.1, 0.2][seed % 4] ?? 0;
  let latest = 0;
  let portCalls = 0;
  let diedAt = 0;
  const fault = occasionalCrashes(random, crashRate);
  const say = (what: string): void => {
    if (violations.length < 20) violations.push(what);
  };
  const registry = programRegistry(program, clock, {
    violation: say,
    attempt: (path, begins) => {
      const key = `${subject.crashes}:${path}`;
      const now = (running.get(key) ?? 0) + (begins ? 1 : -1);
      running.set(key, now);
      trace.push(`${clock.now()} ${begins ? "begin" : "end"} ${path}`);
      if (now > 1) say(`two attempts of ${path} at a time`);
    },
  });
  const world = testWorld(registry, {
    clock,
    fault: (_, commit) => {
      if (!disturber.refuseNext) return fault(commit);
      disturber.refuseNext = false;
      return "refuse";
    },
    portFault: () => {
      portCalls += 1;
      if (crashRate === 0 || portCalls - diedAt < 200 || random() >= crashRate / 40) return false;
      diedAt = portCalls;
      return true;
    },
    onCommit: (_, rows, alarmAt) => {
      trace.push(`${clock.now()} commit ${[...rows.keys()].join(",")} alarm ${alarmAt}`);
      latest = Math.max(latest, clock.now());
      if (!disturber.alarmIsLost || alarmAt !== null) checkAlarm(rows, alarmAt, latest, say);
    },
    onLog: (level, entry) => {
      if (String((entry as { code?: string }).code).includes("diverged")) say(`log: ${JSON.stringify(entry)}`);
      if (level === "fatal" || JSON.stringify(entry).includes("internal error")) say(`log: ${JSON.stringify(entry)}`);
    },
  });
  const subject: WorldActor = world.actor("subject", ["k"]);
  const disturbances = randomDisturbances(random, crashRate);
  const disturber = new Disturber(world, subject, clock);

  for (let tries = 0; tries < 100 && !subject.store.keys.includes("a"); tries += 1) {
    await subject.call("get").catch(() => undefined);
    await world.settle();
  }
  let at = 0;
  for (const [index, disturbance] of disturbances.entries()) {
    await world.pass(disturbance.atMs - at);
    at = disturbance.atMs;
    trace.push(`${clock.now()} ${disturbance.kind}`);
    await together(world, disturber.apply(disturbance, index));
  }
  for (let round = 0; round < 200 && (!isEnded(subject) || (disturber.alarmIsLost && round < 3)); round += 1) {
    if (random() < crashRate) subject.crash();
    await world.pass(HOUR_MS / 12);
    // An alarm that the platform has lost comes back when anybody touches the actor; one that it has not needs nobody.
    if (disturber.alarmIsLost) await together(world, subject.call("get").catch(() => undefined));
  }
  await world.passUntilQuiet(HOUR_MS);

  checkEnd(subject, program, disturber.ledger, say);
  return { seed, program, commits: subject.store.commits, crashes: subject.crashes, violations, trace: trace.join("\n") };
}

/** Waits for something that may need the clock to move. */
async function together(world: World, something: Promise<unknown>): Promise<void> {
  let done = false;
  void something.finally(() => {
    done = true;
  });
  for (let rounds = 0; rounds < 1_000 && !done; rounds += 1) await world.pass(1);
  await something;
}

function isEnded(actor: WorldActor): boolean {
  const record = actor.store.dump().get("a");
  const status = record && (decodeValue(record) as { workflow?: { status: string } }).workflow?.status;
  return status === "completed" || status === "failed";
}

/** After each commit the alarm stands no later than the earliest stored deadline (D1). */
function checkAlarm(rows: ReadonlyMap<string, Uint8Array>, alarmAt: number | null, now: number, say: (what: string) => void): void {
  if (!rows.has("a")) return;
  const deadlines: number[] = [];
  const lease = rows.get("l");
  const status = (decodeValue(rows.get("a") as Uint8Array) as { workflow?: { status: string } }).workflow?.status;
  if (lease) deadlines.push((decodeValue(lease) as number[])[0] ?? 0);
  for (const [key, bytes] of rows) {
    if (!key.startsWith("d/")) continue;
    const { at } = decodeValue(bytes) as { at: number };
    if (at > now || !lease) deadlines.push(at);
  }
  if (status === "running" || status === "rolling_back") {
    const due = new History(entriesOf(rows)).earliestDueAt();
    if (due !== undefined && (due > now || !lease)) deadlines.push(due);
  }
  // What is overdue is in hand; after a start that failed it is tried again within the longest backoff.
  const earliest = Math.min(...deadlines.map((at) => (at <= now ? now + LAST_RETRY_MS : at)));
  // A wake that is left behind after a failed start comes 10 s later at the earliest, whatever else is due by then.
  if (alarmAt !== null && alarmAt <= now + FIRST_RETRY_MS) return;
  if (deadlines.length > 0 && (alarmAt === null || alarmAt > earliest)) say(`alarm at ${alarmAt}, earliest deadline ${earliest}, now ${now}`);
}

function entriesOf(rows: ReadonlyMap<string, Uint8Array>): Entry[] {
  return [...rows].filter(([key]) => key.startsWith("e/")).map(([key, bytes]) => decodeEntry(Number(key.slice(2)), bytes));
}

function checkEnd(actor: WorldActor, program: Program, ledger: Ledger, say: (what: string) => void): void {
  const rows = actor.store.dump();
  const record = rows.get("a");
  if (!record) return say("the actor was never created");
  const { status, failure } = (decodeValue(record) as { workflow: { status: string; failure?: { error: { message: string } } } }).workflow;
  const state = decodeValue(rows.get("s") as Uint8Array) as ProgramState;
  const wanted = program.fails ? "failed" : "completed";
  if (status !== wanted) say(`ended ${status} (${failure?.error.message ?? ""}), not ${wanted}`);
  if (program.fails && failure?.error.message !== "the program's end") say(`failed with ${failure?.error.message}`);
  if (rows.has("l")) say("a lease is left");
  if (actor.store.alarmAt !== null) say(`an alarm is left at ${actor.store.alarmAt}`);
  if ([...rows.keys()].some((key) => key.startsWith("d/") || key.startsWith("f/"))) say("a deadline is left");
  if (actor.timersHeld > 0) say("a timer is left");

  for (const [path, times] of Object.entries(state.finished)) if (times !== 1) say(`${path} changed the state ${times} times`);
  const completed = entriesOf(rows)
    .filter((entry) => entry.kind === "step" && entry.status === "completed" && /^s\d+$/.test(String(entry.location.at(-1))))
    .map((entry) => ({ path: pathOf(entry), order: entry.completedSeq ?? 0 }));
  for (const { path } of completed) if (state.finished[path] !== 1) say(`${path} is recorded, but its change of state is missing`);
  checkUndone(program, state, completed, say);

  const queued = [...rows].filter(([key]) => key.startsWith("m/")).map(([, bytes]) => String(decodeValue((decodeValue(bytes) as [string, Uint8Array])[1])));
  const acknowledged = ledger.sent.filter((each) => each.acknowledged).map((each) => each.id);
  const uncertain = ledger.sent.filter((each) => !each.acknowledged).map((each) => each.id);
  for (const [what, list, effects] of [["add", ledger.added, state.added], ["tick", ledger.scheduled, state.ticked]] as const) {
    for (const { id, acknowledged: was } of list) {
      const times = effects[id] ?? 0;
      if (times > 1 || (was && times !== 1)) say(`${what} ${id} took effect ${times} times${was ? "" : ", unacknowledged"}`);
    }
  }
  const seen = [...state.received];
  for (const body of new Set(seen)) if (seen.filter((each) => each === body).length > 1) say(`message ${body} was received twice`);
  const text = JSON.stringify(program.body);
  const inRaces = text.includes('"kind":"race"');
  const recorded = entriesOf(rows)
    .filter((entry) => entry.kind === "message" && entry.status === "completed" && entry.value !== undefined)
    .flatMap((entry) => (decodeValue(entry.value as Uint8Array) as { body: Uint8Array }[]).map((message) => String(decodeValue(message.body))));
  for (const body of acknowledged) {
    const places = Number(queued.includes(body)) + Number(seen.includes(body));
    if (places > 1 || (places === 0 && !inRaces)) say(`message ${body} is in ${places} places`);
    // Without loops nothing is pruned, so that what was taken, by a race's winner too, still stands in the history.
    const held = queued.filter((each) => each === body).length + recorded.filter((each) => each === body).length;
    if (!text.includes('"kind":"loop"') && held !== 1) say(`message ${body} is in ${held} places of queue and history`);
  }
  for (const body of seen) if (!acknowledged.includes(body) && !uncertain.includes(body)) say(`message ${body} was never sent`);
}

function checkUndone(program: Program, state: ProgramState, completed: readonly { path: string; order: number }[], say: (what: string) => void): void {
  for (const [path, times] of Object.entries(state.undone)) if (times !== 1) say(`${path} was undone ${times} times`);
  if (!program.fails && state.undoneOrder.length > 0) say("something was undone though the program succeeded");
  const order = new Map(completed.map(({ path, order: at }) => [path, at]));
  const orders = state.undoneOrder.map((path) => order.get(path) ?? 0);
  if (orders.some((at, index) => index > 0 && at > (orders[index - 1] ?? 0))) say(`undone in the wrong order: ${state.undoneOrder.join(", ")}`);
  if (!program.fails) return;
  for (const node of program.body) {
    if (node.kind === "step" && node.rollback && state.undone[`/${node.name}`] !== 1) say(`/${node.name} was not undone`);
  }
}

function pathOf(entry: Entry): string {
  return `/${entry.location.map((segment) => (typeof segment === "number" ? `~${segment}` : segment)).join("/")}`;
}
