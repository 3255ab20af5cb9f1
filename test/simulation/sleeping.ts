/** An actor that goes to sleep now and then, under everything that clients and the platform do to it. */
import { actor, setup, workflow, type AnyActorDefinition, type Registry } from "../../src/actor/index.js";
import { decodeValue, encodeValue } from "../../src/protocol/index.js";
import { deadlinesIn, holdsLease, ManualClock, type World, type WorldActor } from "../../src/testing/index.js";
import { Loop } from "../../src/workflow/index.js";
import { seededRandom } from "../support/seeded-random.js";
import { testWorld } from "../support/test-world.js";
import { occasionalCrashes } from "./faults.js";

export interface SleepingResult {
  readonly seed: number;
  readonly sleeps: number;
  readonly commits: number;
  readonly crashes: number;
  readonly violations: string[];
  /** Everything that happened, in order: two runs of one seed must agree. */
  readonly trace: string;
}

const SLEEP_TIMEOUT_MS = 150;
/** The message that ends the workflow. */
const LAST = "the last one";
const YEAR_MS = 365 * 24 * 3_600_000;
const LAST_BACKOFF_MS = 300_000;
const OPERATIONS = [
  "add", "add", "add", "read", "send", "send", "schedule", "keep", "wait", "sleep", "sleep", "destroy",
  "evict", "evict", "spurious alarm", "alarm twice", "alarm late", "alarm on time", "clock forward", "crash",
] as const;

interface State {
  readonly added: Record<string, number>;
  readonly ticked: Record<string, number>;
  readonly received: Record<string, number>;
}

/** One life of the actor in memory, from its `onWake` on; a place in `vars`. */
interface Life {
  readonly number: number;
  /** Which process it lives in: a crash or an eviction begins another. */
  readonly process: string;
  phase: "awake" | "going to sleep" | "asleep" | "ending" | "destroyed";
}

export async function simulateSleeping(seed: number): Promise<SleepingResult> {
  const sleeping = new Sleeping(seed);
  await sleeping.run();
  const { subject, violations, trace, sleeps } = sleeping;
  return { seed, sleeps, commits: subject.store.commits, crashes: subject.crashes, violations, trace: trace.join("\n") };
}

class Sleeping {
  readonly violations: string[] = [];
  readonly trace: string[] = [];
  readonly subject: WorldActor;
  sleeps = 0;
  readonly #random: () => number;
  readonly #crashRate: number;
  readonly #clock = new ManualClock();
  readonly #world: World;
  readonly #hasWorkflow: boolean;
  readonly #asksInOnSleep: "nothing" | "send" | "schedule" | "destroy";
  /** Counts lives of the key: what was asked of one ends with it. */
  #ends = 0;
  /** What clients asked for, and whether they were told that it is done. */
  readonly #asked = { added: new Map<string, boolean>(), ticked: new Map<string, boolean>(), received: new Map<string, boolean>() };
  #lives = 0;
  #last: Life | undefined;
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
    this.#asksInOnSleep = (["send", "schedule", "nothing", "destroy"] as const)[Math.floor(seed / 4) % 4] ?? "nothing";
    const fault = occasionalCrashes(this.#random, this.#crashRate);
    this.#world = testWorld(this.#registry(), {
      clock: this.#clock,
      fault: (_, commit) => (this.#isCalm ? undefined : fault(commit)),
      portFault: () => {
        this.#portCalls += 1;
        if (this.#isCalm || this.#crashRate === 0 || this.#portCalls - this.#diedAt < 200 || this.#random() >= this.#crashRate / 40) return false;
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
    const last = this.#told(this.#asked.received, LAST, this.#send(LAST));
    // It may have to wait until the actor sleeps.
    await this.#world.pass(1_000);
    await last;
    await this.#world.passUntilQuiet(3_600_000);
    this.#checkEnd();
  }

  // ---- the actor ---------------------------------------------------------------------------------------------------

  get #process(): string {
    return `${this.subject.crashes}/${this.#evictions}`;
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- hooks of all kinds share one signature here
  #awake(c: any, what: string): void {
    const life = c.vars as Life;
    // What runs when its actor is destroyed may go on for a while, and changes nothing.
    if (life.phase === "ending" || life.phase === "destroyed") return;
    if (life.phase !== "awake") this.#say(`${what} in life ${life.number}, which is ${life.phase}`);
    if (life.process === this.#process && life !== this.#last) this.#say(`${what} in life ${life.number}, though another one has begun`);
  }

  #registry(): Registry {
    // oxlint-disable-next-line typescript/no-explicit-any -- as above
    type Context = any;
    const count = (record: Record<string, number>, id: string): void => void (record[id] = (record[id] ?? 0) + 1);
    const definition = actor({
      state: { added: {}, ticked: {}, received: {} },
      createVars: (): Life => {
        this.#lives += 1;
        const life: Life = { number: this.#lives, process: this.#process, phase: "awake" };
        const before = this.#last;
        if (before?.process === life.process && before.phase !== "asleep" && before.phase !== "destroyed") this.#say(`life ${life.number} begins while life ${before.number} is ${before.phase}`);
        this.#last = life;
        return life;
      },
      onWake: (c: Context) => this.#note(`life ${c.vars.number}`),
      onSleep: async (c: Context) => {
        this.#awake(c, "onSleep");
        if (!c.aborted) this.#say("onSleep, and the signal has not fired");
        c.vars.phase = "going to sleep";
        this.sleeps += 1;
        await this.#clock.delay(Math.floor(c.vars.number % 4) * 3);
        await this.#onSleep(c);
        c.vars.phase = "asleep";
        this.#note(`life ${c.vars.number} is asleep`);
      },
      onDestroy: async (c: Context) => {
        if (c.vars) c.vars.phase = "ending";
        await this.#clock.delay(Math.floor(this.#lives % 3) * 5);
        if (c.vars) c.vars.phase = "destroyed";
        this.#note("destroyed");
        this.#forget();
      },
      ...(this.#hasWorkflow
        ? {
            run: workflow(async (ctx: Context) => {
              await ctx.loop("messages", async (loop: Context) => {
                const message = await loop.queue.next("message", { timeout: 400 }).catch((error: { code: string }) => {
                  if (error.code !== "timed_out") throw error;
                });
                if (!message) return undefined;
                await loop.step("take", async (step: Context) => {
                  this.#awake(step, "a step begins");
                  await this.#clock.delay(3);
                  this.#awake(step, "a step goes on");
                  count(step.state.received, message.body);
                });
                return message.body === LAST ? Loop.break(undefined) : undefined;
              });
            }),
          }
        : {
            run: async (c: Context) => {
              while (!c.aborted) {
                const message = await c.queue.next({ completable: true }).catch(() => undefined);
                if (!message) return;
                count(c.state.received, message.body);
                await message.complete();
              }
            },
          }),
      actions: {
        add: async (c: Context, id: string) => {
          this.#awake(c, "an action begins");
          await this.#clock.delay(2);
          this.#awake(c, "an action goes on");
          count(c.state.added, id);
        },
        tick: async (c: Context, id: string) => {
          this.#awake(c, "a scheduled action begins");
          await this.#clock.delay(2);
          this.#awake(c, "a scheduled action goes on");
          count(c.state.ticked, id);
        },
        schedule: (c: Context, id: string, ms: number) => c.schedule.after(ms, "tick", id),
        keep: (c: Context, ms: number) => void c.keepAwake(this.#clock.delay(ms).then(() => this.#awake(c, "what was kept awake ends"))),
        wait: (c: Context, ms: number) => c.waitUntil(this.#clock.delay(ms)),
        sleep: (c: Context) => c.sleep(),
        destroy: (c: Context) => {
          this.#forget();
          c.destroy();
        },
        read: () => {},
      },
      options: { sleepTimeout: SLEEP_TIMEOUT_MS, sleepGracePeriod: 1_000 },
    } as never) as AnyActorDefinition;
    return setup({ use: { subject: definition } }) as unknown as Registry;
  }

  /** Of seeds that ask for it: what the hook asks of its own actor is done by later lives, and keeps nobody awake. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  async #onSleep(c: any): Promise<void> {
    if (this.#isCalm || this.#asksInOnSleep === "nothing" || this.sleeps % 3 !== 0) return;
    if (this.#asksInOnSleep === "destroy") {
      this.#forget();
      c.destroy();
      await this.#clock.delay(1);
      return;
    }
    const id = `asked by sleep ${this.sleeps}`;
    const before = this.#ends;
    const asked = this.#asksInOnSleep === "send" ? this.#asked.received : this.#asked.ticked;
    asked.set(id, false);
    if (this.#asksInOnSleep === "send") await c.queue.send("in", id);
    else await c.schedule.after(this.sleeps % 2 === 0 ? 0 : 200, "tick", id);
    // Nobody told the hook that it is on disk.
    asked.set(id, this.#crashRate === 0 && before === this.#ends);
  }

  /** The actor ends: nothing that was asked of it, or is being asked, is promised any more. */
  #forget(): void {
    this.#ends += 1;
    for (const asked of Object.values(this.#asked)) for (const id of asked.keys()) asked.set(id, false);
  }

  // ---- what happens to it ------------------------------------------------------------------------------------------

  async #apply(operation: (typeof OPERATIONS)[number], amount: number, id: string): Promise<unknown> {
    switch (operation) {
      case "add":
        return this.#told(this.#asked.added, id, this.#call("add", id));
      case "schedule":
        return this.#told(this.#asked.ticked, id, this.#call("schedule", id, Math.floor(amount * 400)));
      case "send":
        return this.#told(this.#asked.received, id, this.#send(id));
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
    const call = this.subject.call(action, ...args).then(() => true, () => false);
    return Promise.race([call, this.subject.died().then(() => false)]);
  }

  #send(body: string): Promise<boolean> {
    return this.subject.send({ mode: "get" }, { kind: "send", queue: "in", body: encodeValue(body) }).then((reply) => reply.ok, () => false);
  }

  async #told(asked: Map<string, boolean>, id: string, answer: Promise<boolean>): Promise<void> {
    asked.set(id, false);
    const before = this.#ends;
    const isTold = await Promise.race([answer, this.subject.died().then(() => false)]);
    asked.set(id, isTold && before === this.#ends);
  }

  // ---- what must hold ----------------------------------------------------------------------------------------------

  #checkAlarm(rows: ReadonlyMap<string, Uint8Array>, alarmAt: number | null): void {
    if (!rows.has("a")) return;
    const now = this.#latest;
    const isGuarded = holdsLease(rows, alarmAt, now);
    const due = deadlinesIn(rows).map((at) => (at <= now ? now + LAST_BACKOFF_MS : Math.min(at, now + YEAR_MS) + (isGuarded ? 1 : 0)));
    if (due.length > 0 && (alarmAt === null || alarmAt > Math.min(...due))) this.#say(`alarm at ${alarmAt}, earliest deadline ${Math.min(...due)}, now ${now}`);
  }

  #checkEnd(): void {
    const rows = this.subject.store.dump();
    const keys = [...rows.keys()];
    const state = decodeValue(rows.get("s") as Uint8Array) as State;
    if (keys.some((key) => key.startsWith("d/"))) this.#say(`left: ${keys.join(",")}`);
    // A workflow that waits for messages is looked after a year later.
    const { alarmAt } = this.subject.store;
    if (this.subject.holdsLease || (alarmAt !== null && !this.#hasWorkflow)) this.#say(`an alarm is left at ${alarmAt}`);
    if (this.subject.timersHeld > 0) this.#say("a timer is left");
    if (keys.some((key) => key.startsWith("m/"))) this.#say("a message is left that somebody waits for");
    for (const kind of ["added", "ticked", "received"] as const) {
      for (const [id, acknowledged] of this.#asked[kind]) {
        const times = state[kind][id] ?? 0;
        // A plain run handler's state may be ahead of the completion of its message.
        const most = kind === "received" && !this.#hasWorkflow ? 1 + this.subject.crashes + this.#evictions : 1;
        if (times > most || (acknowledged && times === 0)) this.#say(`${kind}: ${id} ${times} times${acknowledged ? "" : ", unacknowledged"}`);
      }
    }
    // Three crashes in a row may have hit `onSleep`.
    if (this.#last?.phase !== "asleep" && !this.#isGivenUp) this.#say(`the last life, ${this.#last?.number}, is ${this.#last?.phase}`);
    if (this.sleeps === 0 && this.#ends === 0) this.#say("it never slept");
  }

  #note(what: string): void {
    this.trace.push(`${this.#clock.now()} ${what}`);
  }

  #say(what: string): void {
    this.#note(`VIOLATION ${what}`);
    if (this.violations.length < 20) this.violations.push(what);
  }
}
