/** The actor whose recurring jobs are simulated, and what is known of its occurrences whatever it stores. */
import {
  actor,
  setup,
  type CronEveryOptions,
  type CronHistoryEntry,
  type CronJobInfo,
  type CronSetOptions,
  type Registry,
  type ScheduledEvent,
  type ScheduledFireInfo,
} from "../../src/actor/index.js";
import type { ManualClock } from "../../src/testing/index.js";

export interface RecurringState {
  /** How often each occurrence took effect. */
  readonly fired: Record<string, number>;
  /** The same of one-shots. */
  readonly ticked: Record<string, number>;
}

export interface SeenActor {
  /** Each with its history, oldest first. */
  readonly jobs: readonly { readonly job: CronJobInfo; readonly history: readonly CronHistoryEntry[] }[];
  /** One-shots that have not run. */
  readonly scheduled: readonly ScheduledEvent[];
  readonly state: RecurringState;
  readonly now: number;
}

export interface OccurrenceWatch {
  /** Which process lives: counts deaths. */
  life(): number;
  note(what: string): void;
  violation(what: string): void;
  /** The process dies with this turn, unless nothing disturbs any more. */
  kill(): void;
}

export function occurrence(name: string, scheduledAt: number, firedAt: number): string {
  return `${name}@${scheduledAt}/${firedAt}`;
}

export class Occurrences {
  /** How often each began, by the request that made its job what it was. */
  readonly begun = new Map<string, number>();
  /** Requests whose occurrences had that name and those times: more than one when the clock went back. */
  readonly requests = new Map<string, Set<number>>();
  /** Jobs that were deleted: what runs of one runs on, beside another under its name. */
  readonly deleted = new Set<string>();
  /** How often each one-shot that kills its object began. */
  readonly killed = new Map<string, number>();
  readonly #running = new Map<string, number>();
  readonly #clock: ManualClock;
  readonly #watch: OccurrenceWatch;

  constructor(clock: ManualClock, watch: OccurrenceWatch) {
    this.#clock = clock;
    this.#watch = watch;
  }

  /** Occurrences that run in the process that lives. */
  get running(): number {
    const life = `${this.#watch.life()}:`;
    return [...this.#running].filter(([job]) => job.startsWith(life)).reduce((sum, [, count]) => sum + count, 0);
  }

  registry(): Registry {
    const subject = actor({
      state: { fired: {}, ticked: {} } as RecurringState,
      actions: {
        get: (c) => c.state,
        set: (c, options: CronSetOptions) => c.cron.set(options),
        every: (c, options: CronEveryOptions) => c.cron.every(options),
        delete: (c, name: string) => c.cron.delete(name),
        /** All there is to see, at one moment. */
        all: async (c): Promise<SeenActor> => {
          const jobs = await c.cron.list();
          const histories = await Promise.all(jobs.map((job) => c.cron.history(job.name, { limit: 1_000 })));
          return {
            jobs: jobs.map((job, index) => ({ job, history: (histories[index] ?? []).reverse() })),
            scheduled: await c.schedule.list(),
            state: c.state,
            now: this.#clock.now(),
          };
        },
        schedule: (c, id: string, delayMs: number, isFatal = false) =>
          c.schedule.after(delayMs, isFatal ? "fatalTick" : "tick", id),
        tick: (c, id: string) => {
          c.state.ticked[id] = (c.state.ticked[id] ?? 0) + 1;
        },
        /** Kills its object each time. */
        fatalTick: (_, id: string) => this.#kills(`one-shot ${id}`),
        kills: async (c, request: number, durationMs: number, info: ScheduledFireInfo) => {
          await this.#clock.delay(durationMs % 3_000);
          this.#watch.kill();
          await this.#occurs(c.state, request, 0, info);
        },
        works: (c, request: number, durationMs: number, info: ScheduledFireInfo) =>
          this.#occurs(c.state, request, durationMs, info),
        fails: async (c, request: number, durationMs: number, info: ScheduledFireInfo) => {
          await this.#occurs(c.state, request, durationMs, info);
          throw new Error("as asked");
        },
      },
    });
    return setup({ use: { subject } }) as unknown as Registry;
  }

  async #kills(what: string): Promise<void> {
    this.#watch.note(`begin ${what}`);
    this.killed.set(what, (this.killed.get(what) ?? 0) + 1);
    await this.#clock.delay(500);
    this.#watch.kill();
    await this.#clock.delay(500);
  }

  /** It changes the state after its last await. */
  async #occurs(
    state: RecurringState,
    request: number,
    durationMs: number,
    { name = "", scheduledAt, firedAt }: ScheduledFireInfo,
  ): Promise<void> {
    const key = occurrence(name, scheduledAt, firedAt);
    this.#watch.note(`begin ${key}`);
    this.#count(this.begun, `${key} of ${request}`, 1, "began");
    this.requests.set(key, (this.requests.get(key) ?? new Set()).add(request));
    const job = `${this.#watch.life()}:${name}`;
    this.#count(this.#running, job, this.deleted.has(name) ? 1_000 : 1, "run");
    try {
      if (durationMs > 0) await this.#clock.delay(durationMs);
      state.fired[key] = (state.fired[key] ?? 0) + 1;
    } finally {
      this.#running.set(job, (this.#running.get(job) ?? 0) - 1);
      this.#watch.note(`end ${key}`);
    }
  }

  #count(counts: Map<string, number>, key: string, most: number, did: string): void {
    const now = (counts.get(key) ?? 0) + 1;
    counts.set(key, now);
    if (now > most) this.#watch.violation(`${now} of ${key} ${did}`);
  }
}
