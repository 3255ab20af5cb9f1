/** An actor that goes to sleep now and then, under everything that clients and the platform do to it. */
import { decodeValue, encodeValue } from "../../src/protocol/index.js";
import { deadlinesIn, holdsLease, ManualClock, type World, type WorldActor } from "../../src/testing/index.js";
import { seededRandom } from "../support/seeded-random.js";
import { testWorld } from "../support/test-world.js";
import { occasionalCrashes } from "./faults.js";
import { LAST, SLEEP_TIMEOUT_MS, SleepingActor, type State } from "./sleeping-actor.js";

export interface SleepingResult {
  readonly seed: number;
  readonly sleeps: number;
  readonly commits: number;
  readonly crashes: number;
  readonly violations: string[];
  /** Everything that happened, in order: two runs of one seed must agree. */
  readonly trace: string;
}

const YEAR_MS = 365 * 24 * 3_600_000;
const LAST_BACKOFF_MS = 300_000;
const OPERATIONS = [
  "add",
  "add",
  "add",
  "read",
  "send",
  "send",
  "schedule",
  "keep",
  "wait",
  "sleep",
  "sleep",
  "destroy",
  "evict",
  "evict",
  "spurious alarm",
  "alarm twice",
  "alarm late",
  "alarm on time",
  "clock forward",
  "crash",
] as const;

export async function simulateSleeping(seed: number): Promise<SleepingResult> {
  const sleeping = new Sleeping(seed);
  await sleeping.run();
  const { subject, violations, trace, actor } = sleeping;
  return {
    seed,
    sleeps: actor.sleeps,
    commits: subject.store.commits,
    crashes: subject.crashes,
    violations,
    trace: trace.join("\n"),
  };
}

class Sleeping {
  readonly violations: string[] = [];
  readonly trace: string[] = [];
  readonly subject: WorldActor;
  readonly actor: SleepingActor;
  readonly #random: () => number;
  readonly #crashRate: number;
  readonly #clock = new ManualClock();
  readonly #world: World;
  readonly #hasWorkflow: boolean;
  #evictions = 0;
  #latest = 0;
  #isGivenUp = false;
  #isCalm = false;
  #portCalls = 0;
  #diedAt = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.#crashRate = [0, 0.03, 0.1, 0.2][seed % 4] ?? 0;
    this.#hasWorkflow = seed % 3 !== 0;
    this.actor = new SleepingActor({
      clock: this.#clock,
      hasWorkflow: this.#hasWorkflow,
      asksInOnSleep: (["send", "schedule", "nothing", "destroy"] as const)[Math.floor(seed / 4) % 4] ?? "nothing",
      crashRate: this.#crashRate,
      process: () => this.#process,
      isCalm: () => this.#isCalm,
      note: (what) => this.#note(what),
      say: (what) => this.#say(what),
    });
    const fault = occasionalCrashes(this.#random, this.#crashRate);
    this.#world = testWorld(this.actor.registry(), {
      clock: this.#clock,
      fault: (_, commit) => (this.#isCalm ? undefined : fault(commit)),
      portFault: () => {
        this.#portCalls += 1;
        if (
          this.#isCalm ||
          this.#crashRate === 0 ||
          this.#portCalls - this.#diedAt < 200 ||
          this.#random() >= this.#crashRate / 40
        )
          return false;
        this.#diedAt = this.#portCalls;
        return true;
      },
      onCommit: (_, rows, alarmAt) => {
        this.#note(`commit ${[...rows.keys()].join(",")} alarm ${alarmAt}`);
        this.#latest = Math.max(this.#latest, this.#clock.now());
        this.#checkAlarm(rows, alarmAt);
      },
      onLog: (level, entry) => {
        if (level === "error" || level === "fatal") this.#note(`${level}: ${JSON.stringify(entry)}`);
        if (JSON.stringify(entry).includes("it is given up")) this.#isGivenUp = true;
        if (level === "fatal") this.#say(`log: ${JSON.stringify(entry)}`);
      },
    });
    this.subject = this.#world.actor("subject", ["k"]);
  }

  async run(): Promise<void> {
    for (let tries = 0; tries < 100 && !this.subject.store.keys.includes("a"); tries += 1) await this.#call("read");
    const count = 10 + Math.floor(this.#random() * 30);
    const flights: Promise<unknown>[] = [];
    for (let index = 0; index < count; index += 1) {
      const operation = OPERATIONS[Math.floor(this.#random() * OPERATIONS.length)] ?? "read";
      const amount = this.#random();
      if (this.#crashRate === 0 && operation === "crash") continue;
      this.#note(operation);
      flights.push(this.#apply(operation, amount, `${operation}-${index}`));
      // Often long enough to fall asleep, often into the middle of that.
      await this.#world.pass(Math.floor(this.#random() * (this.#random() < 0.5 ? 20 : 2 * SLEEP_TIMEOUT_MS)));
    }
    this.#isCalm = true;
    this.subject.alarmDelayMs = 0;
    await this.#world.pass(1_000);
    // Calls to a process that died never settle by themselves.
    await Promise.race([Promise.all(flights), this.#world.turn()]);
    // Of a key whose actor was destroyed last, another one.
    const created = this.#call("read");
    await this.#world.pass(5_000);
    await created;
    const last = this.#told(this.actor.asked.received, LAST, this.#send(LAST));
    // It may have to wait until the actor sleeps.
    await this.#world.pass(1_000);
    await last;
    await this.#world.passUntilQuiet(3_600_000);
    this.#checkEnd();
  }

  get #process(): string {
    return `${this.subject.crashes}/${this.#evictions}`;
  }

  // ---- what happens to it ------------------------------------------------------------------------------------------

  async #apply(operation: (typeof OPERATIONS)[number], amount: number, id: string): Promise<unknown> {
    switch (operation) {
      case "add":
        return this.#told(this.actor.asked.added, id, this.#call("add", id));
      case "schedule":
        return this.#told(this.actor.asked.ticked, id, this.#call("schedule", id, Math.floor(amount * 400)));
      case "send":
        return this.#told(this.actor.asked.received, id, this.#send(id));
      case "keep":
      case "wait":
        return this.#call(operation, Math.floor(amount * 300));
      case "read":
      case "sleep":
      case "destroy":
        return this.#call(operation);
      case "evict":
        this.#evictions += 1;
        return this.subject.evict();
      case "spurious alarm":
        return this.subject.fireAlarm();
      case "alarm twice":
        if (!this.subject.alarmIsDue) return undefined;
        await this.subject.fireAlarm();
        return this.subject.fireAlarm();
      case "alarm late":
        this.subject.alarmDelayMs = Math.floor(amount * 500);
        return undefined;
      case "alarm on time":
        this.subject.alarmDelayMs = 0;
        return undefined;
      case "clock forward":
        this.#clock.moveTo(this.#clock.now() + Math.floor(amount * 1_000));
        return undefined;
      case "crash":
        return this.subject.crash();
    }
  }

  async #call(action: string, ...args: unknown[]): Promise<boolean> {
    const call = this.subject.call(action, ...args).then(
      () => true,
      () => false,
    );
    return Promise.race([call, this.subject.died().then(() => false)]);
  }

  #send(body: string): Promise<boolean> {
    return this.subject.send({ mode: "get" }, { kind: "send", queue: "in", body: encodeValue(body) }).then(
      (reply) => reply.ok,
      () => false,
    );
  }

  async #told(asked: Map<string, boolean>, id: string, answer: Promise<boolean>): Promise<void> {
    asked.set(id, false);
    const before = this.actor.ends;
    const isTold = await Promise.race([answer, this.subject.died().then(() => false)]);
    asked.set(id, isTold && before === this.actor.ends);
  }

  // ---- what must hold ----------------------------------------------------------------------------------------------

  #checkAlarm(rows: ReadonlyMap<string, Uint8Array>, alarmAt: number | null): void {
    if (!rows.has("a")) return;
    const now = this.#latest;
    const isGuarded = holdsLease(rows, alarmAt, now);
    const due = deadlinesIn(rows).map((at) =>
      at <= now ? now + LAST_BACKOFF_MS : Math.min(at, now + YEAR_MS) + (isGuarded ? 1 : 0),
    );
    if (due.length > 0 && (alarmAt === null || alarmAt > Math.min(...due)))
      this.#say(`alarm at ${alarmAt}, earliest deadline ${Math.min(...due)}, now ${now}`);
  }

  #checkEnd(): void {
    const rows = this.subject.store.dump();
    const keys = [...rows.keys()];
    const state = decodeValue(rows.get("s") as Uint8Array) as State;
    if (keys.some((key) => key.startsWith("d/"))) this.#say(`left: ${keys.join(",")}`);
    // A workflow that waits for messages is looked after a year later.
    const { alarmAt } = this.subject.store;
    if (this.subject.holdsLease || (alarmAt !== null && !this.#hasWorkflow))
      this.#say(`an alarm is left at ${alarmAt}`);
    if (this.subject.timersHeld > 0) this.#say("a timer is left");
    if (keys.some((key) => key.startsWith("m/"))) this.#say("a message is left that somebody waits for");
    for (const kind of ["added", "ticked", "received"] as const) {
      for (const [id, acknowledged] of this.actor.asked[kind]) {
        const times = state[kind][id] ?? 0;
        // A plain run handler's state may be ahead of the completion of its message.
        const most = kind === "received" && !this.#hasWorkflow ? 1 + this.subject.crashes + this.#evictions : 1;
        if (times > most || (acknowledged && times === 0))
          this.#say(`${kind}: ${id} ${times} times${acknowledged ? "" : ", unacknowledged"}`);
      }
    }
    // Three crashes in a row may have hit `onSleep`.
    if (this.actor.last?.phase !== "asleep" && !this.#isGivenUp)
      this.#say(`the last life, ${this.actor.last?.number}, is ${this.actor.last?.phase}`);
    if (this.actor.sleeps === 0 && this.actor.ends === 0) this.#say("it never slept");
  }

  #note(what: string): void {
    this.trace.push(`${this.#clock.now()} ${what}`);
  }

  #say(what: string): void {
    this.#note(`VIOLATION ${what}`);
    if (this.violations.length < 20) this.violations.push(what);
  }
}
