/** Recurring jobs under everything that clients and the platform do to them, and what must hold all the time. */
import { type CronEveryOptions, type CronJobInfo, type CronSetOptions } from "../../src/actor/index.js";
import { nextCronTime } from "../../src/actor/internal.js";
import { decodeValue } from "../../src/protocol/index.js";
import { deadlinesIn, holdsLease, ManualClock, type World, type WorldActor } from "../../src/testing/index.js";
import { seededRandom } from "../support/seeded-random.js";
import { testWorld } from "../support/test-world.js";
import { occasionalCrashes } from "./faults.js";
import { occurrence, Occurrences, type SeenActor } from "./recurring-actor.js";

export interface RecurringResult {
  readonly seed: number;
  /** Occurrences that began. */
  readonly begun: number;
  readonly commits: number;
  readonly crashes: number;
  readonly violations: string[];
  /** Everything that happened, in order: two runs of one seed must agree. */
  readonly trace: string;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const YEAR_MS = 365 * 24 * 3_600_000;
const LAST_BACKOFF_MS = 300_000;
const QUIET_MS = 10 * MINUTE_MS;
/** The longest that an occurrence lasts. */
const LONGEST_MS = 12 * SECOND_MS;
const JOBS = ["a", "b", "c"] as const;
const OPERATIONS = [
  "set",
  "set",
  "every",
  "every",
  "again",
  "delete",
  "schedule",
  "schedule a fatal one",
  "look",
  "spurious alarm",
  "alarm twice",
  "alarm lost",
  "alarm late",
  "alarm on time",
  "clock forward",
  "clock back",
  "write refused",
  "crash",
] as const;
const DEADLY = new Set<string>(["write refused", "crash", "schedule a fatal one"]);
/**
 * So often at most a one-shot that kills its object begins: the first time not marked, once more after a clock that
 * went far ahead, then to its bound.
 */
const FATAL_RUNS = 12;
/** After this one that kills its object is dropped: ten cut-offs with the longest backoff. */
const FATAL_MS = 3_600_000;

type Options = CronSetOptions | CronEveryOptions;
/** What the job of a name was last asked to be; `unknown` where the answer was lost. */
type Asked = Options | "none" | "unknown";

/** Runs a seed's recurring jobs and disturbances, and checks the invariants all the time. */
export async function simulateRecurring(seed: number): Promise<RecurringResult> {
  const recurring = new Recurring(seed);
  await recurring.run();
  const { subject, occurrences, violations, trace } = recurring;
  return {
    seed,
    begun: occurrences.begun.size,
    commits: subject.store.commits,
    crashes: subject.crashes,
    violations,
    trace: trace.join("\n"),
  };
}

class Recurring {
  readonly violations: string[] = [];
  readonly trace: string[] = [];
  readonly occurrences: Occurrences;
  readonly subject: WorldActor;
  readonly #random: () => number;
  readonly #crashRate: number;
  readonly #clock = new ManualClock();
  readonly #world: World;
  readonly #asked = new Map<string, Asked>();
  /** The latest time at which a job's cadence may have become what it is. */
  readonly #cadenceSince = new Map<string, number>();
  readonly #scheduled: { readonly id: string; acknowledged: boolean }[] = [];
  /** Some of what it schedules kills its object each time. */
  readonly #isFatal: boolean;
  #isCalm = false;
  #refuseNext = false;
  #alarmIsLost = false;
  #latest = 0;
  #portCalls = 0;
  #diedAt = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.#crashRate = [0, 0.03, 0.1, 0.2][seed % 4] ?? 0;
    this.#isFatal = seed % 7 === 5 && this.#crashRate > 0;
    this.occurrences = new Occurrences(this.#clock, {
      life: () => this.subject.crashes,
      note: (what) => this.#note(what),
      violation: (what) => this.#say(what),
      kill: () => {
        if (!this.#isCalm) this.subject.store.crashWithTurn();
      },
    });
    const fault = occasionalCrashes(this.#random, this.#crashRate);
    this.#world = testWorld(this.occurrences.registry(), {
      clock: this.#clock,
      fault: (_, commit) => {
        if (this.#isCalm) return undefined;
        if (!this.#refuseNext) return fault(commit);
        this.#refuseNext = false;
        return "refuse";
      },
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
        this.#checkRows(rows, alarmAt);
      },
      onLog: (level, entry) => {
        if (level === "fatal" || /invalid_schedule_row|internal error/.test(JSON.stringify(entry)))
          this.#say(`log: ${JSON.stringify(entry)}`);
      },
    });
    this.subject = this.#world.actor("subject", ["k"]);
  }

  async run(): Promise<void> {
    const count = 4 + this.#below(24);
    for (let index = 0; index < count; index += 1) {
      const operation = this.#pick(OPERATIONS);
      if (this.#crashRate === 0 && DEADLY.has(operation)) continue;
      if (operation === "schedule a fatal one" && !this.#isFatal) continue;
      this.#note(operation);
      await this.#together(this.#apply(operation, index));
      await this.#world.pass(this.#below(this.#random() < 0.3 ? 90 * SECOND_MS : 8 * SECOND_MS));
    }
    // Nothing but crashes disturbs from here on: everything comes to its time.
    this.subject.alarmDelayMs = 0;
    if (this.#isFatal) {
      for (const operation of ["schedule", "schedule a fatal one", "schedule"] as const)
        await this.#together(this.#apply(operation, count));
      await this.#world.pass(FATAL_MS);
    }
    // An alarm that the platform has lost is missed, and put right, by whoever touches the actor after its time.
    for (let touches = 0; touches < 2; touches += 1) {
      await this.#ask("get");
      await this.#world.pass(QUIET_MS);
    }
    this.#isCalm = true;
    // What killed the object last has left a lease as far ahead as it may be.
    await this.#world.pass(this.#isFatal ? QUIET_MS : MINUTE_MS);
    this.#checkEnd((await this.#ask("all")) as SeenActor);
  }

  // ---- what happens ------------------------------------------------------------------------------------------------

  async #apply(operation: (typeof OPERATIONS)[number], index: number): Promise<void> {
    const name = this.#pick(JOBS);
    switch (operation) {
      case "set":
      case "every":
        return this.#upsert(this.#options(operation, name, index), false);
      case "again": {
        const asked = this.#asked.get(name);
        return typeof asked === "object" ? this.#upsert(asked, true) : undefined;
      }
      case "delete":
        return this.#delete(name);
      case "schedule a fatal one":
        await this.#call("schedule", `fatal-${index}`, this.#below(20 * SECOND_MS), true);
        return;
      case "schedule": {
        const told = { id: `tick-${index}-${this.#scheduled.length}`, acknowledged: false };
        this.#scheduled.push(told);
        told.acknowledged = (await this.#call("schedule", told.id, this.#below(20 * SECOND_MS))) !== undefined;
        return;
      }
      case "look":
        await this.#call("get");
        return;
      case "spurious alarm":
        return this.subject.fireAlarm();
      case "alarm twice":
        if (!this.subject.alarmIsDue) return;
        await this.subject.fireAlarm();
        return this.subject.fireAlarm();
      case "alarm lost":
        this.#alarmIsLost = true;
        return this.subject.store.setAlarm(null);
      case "alarm late":
        this.subject.alarmDelayMs = this.#below(3 * MINUTE_MS);
        return;
      case "alarm on time":
        this.subject.alarmDelayMs = 0;
        return;
      case "clock forward":
        return this.#clock.moveTo(this.#clock.now() + this.#below(5 * MINUTE_MS));
      case "clock back":
        return this.#clock.moveTo(this.#clock.now() - this.#below(10 * SECOND_MS));
      case "write refused":
        this.#refuseNext = true;
        return;
      case "crash":
        return this.subject.crash();
    }
  }

  #options(kind: "set" | "every", name: string, request: number): Options {
    const action = this.#isFatal && this.#random() < 0.3 ? "kills" : this.#random() < 0.3 ? "fails" : "works";
    const durationMs = this.#random() < 0.5 ? 0 : 1 + this.#below(LONGEST_MS);
    const what = { name, action, args: [request, durationMs], maxHistory: this.#pick([0, 3, 100, 100]) };
    if (kind === "every") return { ...what, interval: 5 * SECOND_MS + this.#below(25 * SECOND_MS) };
    return {
      ...what,
      expression: this.#pick(["* * * * *", "*/2 * * * *", "*/3 * * * *"]),
      timezone: this.#pick(["UTC", "Europe/Berlin", "Asia/Kolkata"]),
    };
  }

  async #upsert(options: Options, again: boolean): Promise<void> {
    this.#asked.set(options.name, "unknown");
    const job = this.subject.store.dump().get(`d/cron/${options.name}`);
    const answer = await this.#call("interval" in options ? "every" : "set", options);
    if (!again) this.#cadenceSince.set(options.name, Math.max(this.#latest, this.#clock.now()));
    if (answer === undefined) return;
    this.#asked.set(options.name, options);
    // What was registered already is as it was, but for what it has been through.
    if (again && job)
      this.#check(
        sameRow(job, this.subject.store.dump().get(`d/cron/${options.name}`)),
        `${options.name} was registered again, and has changed`,
      );
  }

  async #delete(name: string): Promise<void> {
    this.occurrences.deleted.add(name);
    const before = this.#asked.get(name) ?? "none";
    this.#asked.set(name, "unknown");
    const deleted = await this.#call("delete", name);
    if (deleted === undefined) return;
    if (before !== "unknown")
      this.#check(deleted === (before !== "none"), `delete of ${name} answered ${String(deleted)}`);
    this.#asked.set(name, "none");
  }

  /** The answer, null if it is nothing; undefined if it was lost with the process. */
  async #call(action: string, ...args: unknown[]): Promise<unknown> {
    const answer = this.subject.call(action, ...args).then(
      (value) => value ?? null,
      () => undefined,
    );
    return Promise.race([answer, this.subject.died().then(() => undefined)]);
  }

  /** The answer, asked for until there is one. */
  async #ask(action: string, ...args: unknown[]): Promise<unknown> {
    for (let tries = 0; tries < 50; tries += 1) {
      const answer = await this.#together(this.#call(action, ...args));
      if (answer !== undefined) return answer;
    }
    throw new Error(`No answer to ${action}`);
  }

  /** Waits for something that may need the clock to move. */
  async #together<T>(something: Promise<T>): Promise<T> {
    let done = false;
    void something.finally(() => {
      done = true;
    });
    for (let rounds = 0; rounds < 1_000 && !done; rounds += 1) await this.#world.pass(1);
    return something;
  }

  // ---- what must hold ----------------------------------------------------------------------------------------------

  /** After each commit: the alarm stands no later than the earliest deadline, what runs is guarded, no history is without its job. */
  #checkRows(rows: ReadonlyMap<string, Uint8Array>, alarmAt: number | null): void {
    this.#latest = Math.max(this.#latest, this.#clock.now());
    const now = this.#latest;
    for (const key of rows.keys()) {
      const [, name] = /^h\/\d+\/(.*)$/.exec(key) ?? [];
      this.#check(name === undefined || rows.has(`d/cron/${name}`), `${key} has no job`);
    }
    if (this.#alarmIsLost && alarmAt === null) return;
    const isGuarded = holdsLease(rows, alarmAt, now);
    this.#check(isGuarded || this.occurrences.running === 0, "an occurrence runs without a lease");
    // What is overdue is in hand. While work is guarded, its alarm is not the one of an actor that rests, but 1 ms beside it.
    const deadlines = deadlinesIn(rows).map((at) => (at <= now ? now + LAST_BACKOFF_MS : at + (isGuarded ? 1 : 0)));
    const earliest = Math.min(now + YEAR_MS, ...deadlines);
    if (deadlines.length > 0)
      this.#check(
        alarmAt !== null && alarmAt <= Math.max(earliest, now + 10 * SECOND_MS),
        `alarm at ${alarmAt}, earliest deadline ${earliest}, now ${now}`,
      );
  }

  #checkEnd(seen: SeenActor): void {
    for (const name of JOBS) {
      const asked = this.#asked.get(name) ?? "none";
      const { job } = seen.jobs.find((each) => each.job.name === name) ?? {};
      if (asked !== "unknown")
        this.#check(
          (job !== undefined) === (asked !== "none"),
          `${name} is ${job ? "there" : "not there"}, but was asked to be ${JSON.stringify(asked)}`,
        );
      if (typeof asked === "object" && job)
        this.#check(
          Object.entries(asked).every(
            ([field, value]) => JSON.stringify(job[field as keyof CronJobInfo]) === JSON.stringify(value),
          ),
          `${name} is ${JSON.stringify(job)}, not ${JSON.stringify(asked)}`,
        );
    }
    for (const each of seen.jobs) this.#checkJob(each, seen);
    const { fired, ticked } = seen.state;
    for (const [key, times] of Object.entries(fired))
      this.#check(times <= (this.occurrences.requests.get(key)?.size ?? 0), `${key} took effect ${times} times`);
    for (const [what, times] of this.occurrences.killed)
      this.#check(times <= FATAL_RUNS, `${what} began ${times} times`);
    this.#check(seen.scheduled.length === 0, `${seen.scheduled.length} one-shots are left`);
    for (const { id, acknowledged } of this.#scheduled) {
      const times = ticked[id] ?? 0;
      this.#check(times <= 1 && (!acknowledged || times === 1), `${id} took effect ${times} times`);
    }
  }

  #checkJob({ job, history }: SeenActor["jobs"][number], { state, now }: SeenActor): void {
    this.#check(history.length <= job.maxHistory, `${job.name} keeps ${history.length}, not ${job.maxHistory}`);
    // One that was cut off waits for its turn, while others run.
    this.#check(
      job.nextRunAt > now - JOBS.length * LONGEST_MS,
      `${job.name} is due since ${job.nextRunAt}, now ${now}`,
    );
    for (const [index, { scheduledAt, firedAt, result, error }] of history.entries()) {
      const key = occurrence(job.name, scheduledAt, firedAt);
      const times = state.fired[key] ?? 0;
      const took = result === "ok" || error?.message === "as asked";
      if ((this.occurrences.requests.get(key)?.size ?? 0) <= 1 && result !== "running")
        this.#check(times === (took ? 1 : 0), `${key} is ${result} (${error?.code}), and took effect ${times} times`);
      this.#check(firedAt >= scheduledAt, `${key} came early`);
      this.#check(
        result !== "running" || history.slice(index + 1).every((later) => later.result === "skipped"),
        `${key} still runs`,
      );
      if (firedAt > (this.#cadenceSince.get(job.name) ?? 0))
        this.#check(
          follows(job, firedAt, history[index + 1]?.scheduledAt ?? job.nextRunAt),
          `${key} is followed by ${history[index + 1]?.scheduledAt ?? job.nextRunAt}`,
        );
    }
    const atMost = (job.kind === "every" ? job.interval : 3 * MINUTE_MS) + JOBS.length * LONGEST_MS;
    if (job.maxHistory > 0)
      this.#check(
        (history.at(-1)?.firedAt ?? 0) >= now - atMost,
        `${job.name} fired last at ${history.at(-1)?.firedAt}, now ${now}`,
      );
  }

  // ---- small things ------------------------------------------------------------------------------------------------

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#below(from.length)] as T;
  }

  #note(what: string): void {
    this.trace.push(`${this.#clock.now()} ${what}`);
  }

  #check(holds: boolean, otherwise: string): void {
    if (!holds) this.#say(otherwise);
  }

  #say(what: string): void {
    if (this.violations.length < 20) this.violations.push(what);
  }
}

/** True if the job comes next at the first time of its cadence after it fired; an interval's grid goes through its next time. */
function follows(job: CronJobInfo, firedAt: number, next: number): boolean {
  if (job.kind === "cron") return nextCronTime(job.expression, job.timezone, firedAt) === next;
  return next > firedAt && next <= firedAt + job.interval && (job.nextRunAt - next) % job.interval === 0;
}

/** Two stored rows of a job that differ in what it has been through at most. */
function sameRow(before: Uint8Array, after: Uint8Array | undefined): boolean {
  const asked = (bytes: Uint8Array): string => {
    const { cadence, action, args, maxHistory } = decodeValue(bytes) as Record<string, unknown>;
    return JSON.stringify([cadence, action, [...(args as Uint8Array)], maxHistory]);
  };
  return after !== undefined && asked(before) === asked(after);
}
