import { ActorError, decodeValue, readOptions, own } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { keptFrom } from "./cron-history.js";
import { checkInterval, checkName, checkRequest, firstTime, isSameCadence, isSameRequest } from "./cron-job.js";
import type { Cadence, CronJob, CronRun } from "../storage/deadlines.js";
import type { CronJobs } from "./cron-jobs.js";
import { describe } from "../activation/thrown.js";
import type {
  ActorCron,
  CronEveryOptions,
  CronHistoryEntry,
  CronJobInfo,
  CronSetOptions,
} from "../api/schedule-types.js";
import { checkScheduleRoom, type ScheduleLimitHost } from "./run-scheduled.js";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1_000;
const JOB_OPTIONS = ["name", "action", "args", "maxHistory"] as const;

/** The occurrences that are running, by job name. */
export interface RunningJobs {
  running(name: string): CronRun | undefined;
  /** Call when a job was deleted: an occurrence still running is not recorded. */
  forget(name: string): void;
}

/** What `c.cron` needs from its actor. */
type CronHost = Pick<ActorActivation, "commitOrThrow"> & ScheduleLimitHost;

/** `c.cron`. Running the jobs is due-jobs.ts's job. */
export class CronApi implements ActorCron {
  readonly #activation: CronHost;
  readonly #jobs: CronJobs;
  readonly #runs: RunningJobs;

  constructor(activation: CronHost, jobs: CronJobs, runs: RunningJobs) {
    this.#activation = activation;
    this.#jobs = jobs;
    this.#runs = runs;
  }

  async set(given: CronSetOptions): Promise<void> {
    const options = readOptions(
      "cron.set",
      given ?? undefined,
      [...JOB_OPTIONS, "expression", "timezone"],
      invalidOption,
    );
    const { expression, timezone = "UTC" } = options;
    this.#upsert(options, () => ({ kind: "cron", expression, timezone }));
  }

  async every(given: CronEveryOptions): Promise<void> {
    const options = readOptions("cron.every", given ?? undefined, [...JOB_OPTIONS, "interval"], invalidOption);
    this.#upsert(options, () => ({
      kind: "every",
      interval: checkInterval(options.interval),
      anchor: this.#activation.ports.now(),
    }));
  }

  async get(name: string): Promise<CronJobInfo | undefined> {
    const job = this.#jobs.get(name);
    return job && describeCronJob(name, job);
  }

  async list(): Promise<CronJobInfo[]> {
    return this.#jobs
      .all()
      .flatMap(([name, job]) => this.#legible(name, job) ?? [])
      .sort((a, b) => a.nextRunAt - b.nextRunAt);
  }

  async delete(name: string): Promise<boolean> {
    if (!this.#jobs.get(name)) return false;
    this.#jobs.delete(name);
    this.#runs.forget(name);
    this.#activation.commitOrThrow();
    return true;
  }

  async history(name: string, options?: { readonly limit?: number }): Promise<CronHistoryEntry[]> {
    const { limit = DEFAULT_LIMIT } = readOptions("cron.history", options, ["limit"], invalidOption);
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
      throw new ActorError("schedule", "invalid_limit", `\`limit\` must be an integer from 1 to ${MAX_LIMIT}`);
    }
    const job = this.#jobs.get(name);
    if (!job) return [];
    const entries = this.#jobs.history.read(name, job, limit);
    const running = this.#runs.running(name);
    if (running && running.number >= keptFrom(job)) {
      const { number, action, scheduledAt, firedAt } = running;
      entries.push({ number, entry: { action, scheduledAt, firedAt, result: "running" } });
    }
    return entries
      .sort((a, b) => b.number - a.number)
      .slice(0, limit)
      .map(({ entry }) => entry);
  }

  #legible(name: string, job: CronJob): CronJobInfo | undefined {
    try {
      return describeCronJob(name, job);
    } catch (error) {
      this.#activation.ports.log.error({
        msg: "A recurring job cannot be read and is left out of the list",
        code: "schedule/invalid_schedule_row",
        stack: describe(error),
      });
      return undefined;
    }
  }

  #upsert(options: CronSetOptions | CronEveryOptions, readCadence: () => Cadence): void {
    const name = checkName(options?.name);
    const request = checkRequest(this.#activation, options);
    const cadence = readCadence();
    const before = this.#jobs.get(name);
    const stays = before?.cadence !== undefined && isSameCadence(before.cadence, cadence);
    if (stays && isSameRequest(before, request)) return;
    const timing = stays
      ? { at: before.at, cadence: before.cadence }
      : { at: firstTime(cadence, this.#activation.ports.now()), cadence };
    if (!before) checkScheduleRoom(this.#activation);
    this.#jobs.put(
      name,
      own({
        occurrences: 0,
        ...before,
        ...timing,
        ...request,
        // A longer history does not bring back entries that a shorter one removed.
        ...(before && before.maxHistory !== request.maxHistory ? { keptFrom: keptFrom(before) } : {}),
      }),
    );
    this.#activation.commitOrThrow();
  }
}

function invalidOption(problem: string): ActorError {
  return new ActorError("schedule", "invalid_option", problem);
}

/** A stored job, decoded. @throws {schedule/invalid_schedule_row} when the row cannot be read */
export function describeCronJob(name: string, { cadence, action, args, at, run, maxHistory }: CronJob): CronJobInfo {
  try {
    const info = {
      name,
      action,
      args: decodeValue(args) as unknown[],
      nextRunAt: at,
      ...(run ? { lastRunAt: run.firedAt } : {}),
      maxHistory,
    };
    if (cadence.kind === "every") return { ...info, kind: "every", interval: cadence.interval };
    return { ...info, kind: "cron", expression: cadence.expression, timezone: cadence.timezone };
  } catch (error) {
    throw new ActorError(
      "schedule",
      "invalid_schedule_row",
      `The recurring job ${JSON.stringify(name)} cannot be read`,
      { cause: error },
    );
  }
}
