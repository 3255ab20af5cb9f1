import { decodeValue, encodeValue, toErrorData, own, measure, DUE_PER_PASS } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { Background } from "../callbacks/background.js";
import { CronApi, type RunningJobs } from "./cron-api.js";
import { keptFrom } from "./cron-history.js";
import { nextTime } from "./cron-job.js";
import type { CronJob, CronRun } from "../storage/deadlines.js";
import { CronJobs } from "./cron-jobs.js";
import type { CronHistoryEntry, ScheduledFireInfo } from "../api/schedule-types.js";
import { describe, legible } from "../activation/thrown.js";
import type { FireOrder } from "./fire-order.js";
import { runScheduled } from "./run-scheduled.js";

/** How long until a job that cannot be read is tried again: a later release may read it. */
const UNREADABLE_AGAIN_MS = 3_600_000;
/** The longest time from a cut-off to the start that finds it, unless the platform is late. */
const CUT_OFF_WITHIN_MS = 300_000;
const MAX_CODE = 100;
const MAX_MESSAGE = 500;
const MAX_METADATA_BYTES = 1_000;
const LEVELS_AROUND = 8;

type CronError = NonNullable<CronHistoryEntry["error"]>;

const INTERRUPTED: CronError = {
  group: "schedule",
  code: "interrupted",
  message: "The run was cut off by a crash or by the end of its activation",
};

/**
 * Runs recurring jobs when they are due.
 *
 * Owns: the occurrences that are running or queued. Does not own: the rows of jobs and their history (cron-jobs.ts).
 * Invariants:
 *  1. Before an occurrence runs, its start and the next time are on disk, so that none runs twice (ALARM-10).
 *  2. While one runs the lease is held, so that a boot that finds no lease need not look for runs that were cut off.
 *  3. A job whose last run was cut off is suspect until a run ends: it runs alone, after all others that are due.
 */
export class DueJobs implements RunningJobs {
  /** `c.cron`. */
  readonly view: CronApi;
  readonly #activation: ActorActivation;
  readonly #order: FireOrder;
  readonly #jobs: CronJobs;
  /** Jobs that wait to run alone. */
  readonly #queued = new Set<string>();
  /** Running occurrences by job name. In memory only, so a crash forgets them. */
  readonly #running = new Map<string, CronRun>();

  constructor(activation: ActorActivation, order: FireOrder) {
    this.#activation = activation;
    this.#order = order;
    this.#jobs = new CronJobs(activation);
    this.view = new CronApi(activation, this.#jobs, this);
  }

  running(name: string): CronRun | undefined {
    return this.#running.get(name);
  }

  forget(name: string): void {
    this.#running.delete(name);
  }

  /** For a boot that found a lease: records interrupted runs as errors; they are not repeated. Commits nothing. */
  settleInterrupted(): void {
    for (const [name, job] of this.#jobs.all()) {
      const { run } = job;
      if (!run || this.#hasEnded(name, job, run)) continue;
      this.#jobs.put(name, { ...job, run: { ...run, ended: true }, interrupted: (job.interrupted ?? 0) + 1 });
      this.#jobs.history.put(name, job, run.number, ended(run, this.#activation.ports.now(), INTERRUPTED));
    }
  }

  /** Starts due jobs. Their rows and the lease are committed before anything runs. */
  fireDue(background: Background): void {
    const now = this.#activation.ports.now();
    const due = this.#jobs
      .all()
      .filter(([name, job]) => job.at <= now && !this.#queued.has(name))
      .sort(([, a], [, b]) => a.at - b.at);
    if (due.length === 0) return;
    const begun = due.slice(0, DUE_PER_PASS).flatMap(([name, job]) => this.#begin(name, job, now, background) ?? []);
    this.#jobs.boundHistory();
    for (const start of begun) background.run(whatOf(start.name), () => this.#order.beside(() => this.#run(start)));
    if (due.length > DUE_PER_PASS) background.run("The next pass of recurring jobs", () => this.#nextPass(background));
    // Skipped and deleted jobs start no work that would commit them.
    this.#activation.commit();
  }

  /** Runs as background work, so that the lease is held until the next pass begins. */
  async #nextPass(background: Background): Promise<void> {
    await this.#activation.ports.yield();
    if (!this.#activation.shutdown.signal.aborted) this.fireDue(background);
  }

  /**
   * Moves a job on to its next time. Returns the occurrence to run now, if any. A broken job never stops the others
   * (ALARM-8).
   */
  #begin(name: string, job: CronJob, now: number, background?: Background): DueRun | undefined {
    const { log } = this.#activation.ports;
    if (!this.#activation.actor.actions.has(job.action)) {
      log.error({
        msg: `The recurring job ${JSON.stringify(name)} is deleted: action \`${job.action}\` was not found`,
        code: "actor/action_not_found",
      });
      this.#jobs.delete(name);
      this.forget(name);
      return undefined;
    }
    let at: number | undefined;
    try {
      at = nextTime(job.cadence, now);
    } catch (error) {
      log.error({
        msg: `The recurring job ${JSON.stringify(name)} cannot be read`,
        code: "schedule/invalid_schedule_row",
        stack: describe(error),
      });
    }
    if (at === undefined || Number.isNaN(at)) {
      this.#jobs.put(name, { ...job, at: now + UNREADABLE_AGAIN_MS });
      return undefined;
    }
    const run: CronRun = { number: job.occurrences, action: job.action, scheduledAt: job.at, firedAt: now };
    const next: CronJob = { ...job, at, occurrences: job.occurrences + 1 };
    const isSuspect = (job.interrupted ?? 0) > 0;
    if (this.#running.has(name) || (isSuspect && this.#order.isWary)) {
      this.#jobs.put(name, next);
      this.#jobs.history.put(name, next, run.number, {
        action: run.action,
        scheduledAt: run.scheduledAt,
        firedAt: now,
        result: "skipped",
      });
      return undefined;
    }
    if (isSuspect && background) {
      // Not marked as begun until its turn comes.
      this.#queued.add(name);
      background.run(whatOf(name), () => this.#order.alone(() => this.#runAlone(name)));
      return undefined;
    }
    this.#jobs.put(name, { ...next, run });
    this.#running.set(name, run);
    return { name, kind: job.cadence.kind, args: job.args, run };
  }

  /** Runs a suspect job when its turn comes, if it is still due. */
  async #runAlone(name: string): Promise<void> {
    this.#queued.delete(name);
    const now = this.#activation.ports.now();
    const job = this.#jobs.get(name);
    if (!job || job.at > now || this.#activation.shutdown.isBegun || this.#activation.abortSignal.aborted) return;
    const start = this.#begin(name, job, now);
    this.#jobs.boundHistory();
    if (start) return this.#run(start);
    this.#activation.commit();
  }

  async #run({ name, kind, args, run }: DueRun): Promise<void> {
    this.#activation.commitOrThrow();
    await this.#activation.confirmed();
    // Another job's commit may have ended the activation meanwhile.
    if (this.#running.get(name) !== run || this.#activation.abortSignal.aborted) return;
    if (this.#activation.shutdown.isBegun) {
      this.#end(name, run, INTERRUPTED);
      this.#activation.commit();
      return;
    }
    const { scheduledAt, firedAt } = run;
    const info: ScheduledFireInfo = { kind, id: `cron:${name}`, name, scheduledAt, firedAt };
    await runScheduled(this.#activation, { action: run.action, args }, info, (failure) =>
      this.#end(name, run, failure && toCronError(failure.thrown)),
    );
  }

  #end(name: string, run: CronRun, error: CronError | undefined): void {
    if (this.#running.get(name) !== run) return;
    this.#running.delete(name);
    const job = this.#jobs.get(name);
    if (!job) return;
    this.#jobs.history.put(name, job, run.number, ended(run, this.#activation.ports.now(), error));
    if (!job.interrupted) return;
    // It is no longer suspect.
    const { interrupted: _, ...cleared } = job;
    this.#jobs.put(name, job.run?.number === run.number ? { ...cleared, run: { ...run, ended: true } } : cleared);
  }

  /** Without history, a run that began recently counts as cut off, which only makes the next one run alone. */
  #hasEnded(name: string, job: CronJob, run: CronRun): boolean {
    if (run.ended) return true;
    if (run.number >= keptFrom(job)) return this.#jobs.history.has(name, run.number);
    return (
      this.#activation.ports.now() - run.firedAt > this.#activation.actor.options.actionTimeout + CUT_OFF_WITHIN_MS
    );
  }
}

function whatOf(name: string): string {
  return `Recurring job ${JSON.stringify(name)}`;
}

/** An occurrence whose row is marked and that runs next. */
interface DueRun {
  readonly name: string;
  readonly kind: "cron" | "every";
  readonly args: Uint8Array;
  readonly run: CronRun;
}

function ended(
  { action, scheduledAt, firedAt }: CronRun,
  finishedAt: number,
  error: CronError | undefined,
): CronHistoryEntry {
  const times = { action, scheduledAt, firedAt, finishedAt };
  return error ? { ...times, result: "error", error } : { ...times, result: "ok" };
}

/** The thrown value as an error small enough for a row of twenty entries. */
function toCronError(thrown: unknown): CronError {
  const { group, code, message, metadata } = own(toErrorData(legible(thrown), { expose: true }).data);
  const error = {
    group: group.slice(0, MAX_CODE),
    code: code.slice(0, MAX_CODE),
    message: message.slice(0, MAX_MESSAGE),
  };
  if (metadata === undefined) return error;
  try {
    const copy = decodeValue(encodeValue(metadata, { limitBytes: MAX_METADATA_BYTES }));
    // Checks the depth it will have in the row: a page, an entry, an error.
    measure(copy, LEVELS_AROUND, MAX_METADATA_BYTES);
    return { ...error, metadata: copy };
  } catch {
    return error;
  }
}
