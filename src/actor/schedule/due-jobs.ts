import { decodeValue, encodeValue, toErrorData, own, measure, DUE_PER_PASS } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { Background } from "../callbacks/background.js";
import { Cron, type RunningJobs } from "./cron-api.js";
import { keptFrom } from "./cron-history.js";
import { nextTime } from "./cron-job.js";
import type { CronJob, CronRun } from "../storage/deadlines.js";
import { CronJobs } from "./cron-jobs.js";
import type { CronHistoryEntry, ScheduledFireInfo } from "../api/schedule-types.js";
import { describe, legible } from "../activation/thrown.js";
import type { FireOrder } from "./fire-order.js";
import { runScheduled } from "./run-scheduled.js";

/** A job whose next time cannot be computed is looked at again after this: a later release may read it. */
const UNREADABLE_AGAIN_MS = 3_600_000;
/** The longest that it takes from a cut-off to the start that finds it, unless the platform is late. */
const CUT_OFF_WITHIN_MS = 300_000;
const MAX_CODE = 100;
const MAX_MESSAGE = 500;
const MAX_METADATA_BYTES = 1_000;
const LEVELS_AROUND = 8;

type CronError = NonNullable<CronHistoryEntry["error"]>;

const INTERRUPTED: CronError = {
  group: "schedule",
  code: "interrupted",
  message: "The run was cut off by a crash, or by the end of its activation",
};

/**
 * Runs recurring jobs when they are due.
 *
 * Invariants: before an occurrence runs, the job's row says on disk that it began and when the next one comes, so that no
 * occurrence runs twice; while one runs the lease is stored, so that a boot that finds none has no cut-off run to look for.
 * A job whose last run was cut off is suspect until it comes to an end: it runs alone, after all that are due with it.
 */
export class CronRuns implements RunningJobs {
  /** What contexts show. */
  readonly view: Cron;
  readonly #activation: ActorActivation;
  readonly #order: FireOrder;
  readonly #jobs: CronJobs;
  /** Jobs that wait for their turn to run alone. */
  readonly #queued = new Set<string>();
  /** What runs now, by the job's name. A crash forgets it. */
  readonly #running = new Map<string, CronRun>();

  constructor(activation: ActorActivation, order: FireOrder) {
    this.#activation = activation;
    this.#order = order;
    this.#jobs = new CronJobs(activation);
    this.view = new Cron(activation, this.#jobs, this);
  }

  running(name: string): CronRun | undefined {
    return this.#running.get(name);
  }

  forget(name: string): void {
    this.#running.delete(name);
  }

  /** For a boot that found a lease: runs that the last activation left behind are errors, and are not repeated. Commits nothing. */
  settleInterrupted(): void {
    for (const [name, job] of this.#jobs.all()) {
      const { run } = job;
      if (!run || this.#hasEnded(name, job, run)) continue;
      this.#jobs.put(name, { ...job, run: { ...run, ended: true }, interrupted: (job.interrupted ?? 0) + 1 });
      this.#jobs.history.put(name, job, run.number, ended(run, this.#activation.ports.now(), INTERRUPTED));
    }
  }

  /** Begins what is due. The marks of it and the lease are committed before anything runs. */
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
    // What was skipped or deleted begins nothing that would commit it.
    this.#activation.commit();
  }

  /** Runs as background work, so that the lease that guards what is due is held until it begins. */
  async #nextPass(background: Background): Promise<void> {
    await this.#activation.ports.yield();
    if (!this.#activation.shutdown.signal.aborted) this.fireDue(background);
  }

  /** Moves a job on to its next time; what is to run now, if anything is. One broken job never stops the others. */
  #begin(name: string, job: CronJob, now: number, background?: Background): Start | undefined {
    const { log } = this.#activation.ports;
    if (!this.#activation.actor.actions.has(job.action)) {
      log.warn({
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
        error: describe(error),
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
      // Nothing says that it began before its turn has come.
      this.#queued.add(name);
      background.run(whatOf(name), () => this.#order.alone(() => this.#runAlone(name)));
      return undefined;
    }
    this.#jobs.put(name, { ...next, run });
    this.#running.set(name, run);
    return { name, kind: job.cadence.kind, args: job.args, run };
  }

  /** Its turn has come: what is due of it then begins. */
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

  async #run({ name, kind, args, run }: Start): Promise<void> {
    this.#activation.commitOrThrow();
    await this.#activation.confirmed();
    // Another one's commit may have ended the activation meanwhile.
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
    // Nothing is held against it any more.
    const { interrupted: _, ...cleared } = job;
    this.#jobs.put(name, job.run?.number === run.number ? { ...cleared, run: { ...run, ended: true } } : cleared);
  }

  /** Where no history is kept, what began lately counts as cut off: that makes it wait for its turn once. */
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

interface Start {
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

/** What was thrown, small enough for a row of twenty. */
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
    // In a row it lies in an error of an entry of a page.
    measure(copy, LEVELS_AROUND, MAX_METADATA_BYTES);
    return { ...error, metadata: copy };
  } catch {
    return error;
  }
}
