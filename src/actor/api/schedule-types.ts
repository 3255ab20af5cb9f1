/** Recurring actions, as user code sees them. All times are epoch ms, all durations ms. */

interface CronOptions {
  /** The job's name, 1 to 128 bytes. A later `set` or `every` with the same name changes the job. */
  readonly name: string;
  /** The action to run; a nested action's name has dots. */
  readonly action: string;
  /** The action's arguments, followed by a `ScheduledFireInfo`. Default: none. */
  readonly args?: readonly unknown[];
  /** How many past occurrences are kept, 0 to 1,000. Default: 100. */
  readonly maxHistory?: number;
}

/** Options of `c.cron.set`. */
export interface CronSetOptions extends CronOptions {
  /** Five fields: minute, hour, day of the month, month, day of the week. `"0 7 * * 1-5"` is weekdays at seven. */
  readonly expression: string;
  /** The time zone of the fields: `"Europe/Berlin"`. Default: `"UTC"`. */
  readonly timezone?: string;
}

/** Options of `c.cron.every`. */
export interface CronEveryOptions extends CronOptions {
  /** Whole ms, at least 5,000. */
  readonly interval: number;
}

/** A recurring job as it is stored. */
export type CronJobInfo = {
  readonly name: string;
  readonly action: string;
  readonly args: unknown[];
  readonly nextRunAt: number;
  /** When it last fired; absent before the first time. */
  readonly lastRunAt?: number;
  readonly maxHistory: number;
} & (
  | { readonly kind: "cron"; readonly expression: string; readonly timezone: string }
  | { readonly kind: "every"; readonly interval: number }
);

/** The outcome of one occurrence. `skipped`: the one before it was still running, or crashes kept cutting it off. */
export interface CronHistoryEntry {
  readonly action: string;
  /** When it was due; of several occurrences missed together, the first. */
  readonly scheduledAt: number;
  /** When it began, or was skipped. */
  readonly firedAt: number;
  readonly finishedAt?: number;
  readonly result: "running" | "ok" | "error" | "skipped";
  /** The action's error, or `schedule/interrupted` after a crash. The message is the original one, unmasked. */
  readonly error?: {
    readonly group: string;
    readonly code: string;
    readonly message: string;
    readonly metadata?: unknown;
  };
}

/**
 * Actions of this actor that run again and again. Jobs are stored, and deleted with the actor.
 *
 * An occurrence runs at most once: one that a crash cuts off is an error in the history, and the next one runs.
 * Occurrences missed while the object could not be woken run once together. An occurrence that is due while the one
 * before it is running is skipped.
 */
export interface ActorCron {
  /**
   * Runs an action whenever a cron expression matches. Local times that a clock change leaves out are skipped; one that
   * a clock change repeats matches once if minute and hour are single numbers, otherwise twice.
   *
   * An existing job of this name is changed; with the same expression and time zone it keeps its next time. An
   * identical call writes nothing, so `onWake` may set its jobs at every start. If it throws, nothing is changed.
   *
   * @example
   *     await c.cron.set({ name: "digest", expression: "0 7 * * 1-5", timezone: "Europe/Berlin", action: "send" });
   * @throws {schedule/invalid_name} when the name is not 1 to 128 bytes
   * @throws {schedule/invalid_cron_expression} when the expression cannot be read or never matches
   * @throws {schedule/invalid_timezone} when the time zone is unknown
   * @throws {schedule/invalid_max_history} when `maxHistory` is not a whole number from 0 to 1,000
   * @throws {schedule/invalid_args} when `args` is not an array
   * @throws {schedule/max_schedules_exceeded} when the actor already has `maxSchedules` (default 1,000)
   * @throws {actor/action_not_found} when the actor has no such action
   * @throws {value/not_serializable} when an argument cannot be stored
   * @throws {value/too_large} when the arguments are too large to store
   */
  set(options: CronSetOptions): Promise<void>;
  /**
   * Runs an action every `interval` ms, first one interval from now. Times lie on a grid that begins when the job is
   * created, so a late wake does not shift later ones. An existing job of this name is changed as by `set`; a different
   * interval begins a new grid.
   *
   * @example
   *     await c.cron.every({ name: "poll", interval: 10 * 60_000, action: "poll" });
   * @throws {schedule/invalid_interval} when `interval` is not a whole number of at least 5,000
   * @throws the other errors of `set`
   */
  every(options: CronEveryOptions): Promise<void>;
  /**
   * Returns a job, or undefined if there is none of this name.
   *
   * @example
   *     const next = (await c.cron.get("digest"))?.nextRunAt;
   * @throws {schedule/invalid_schedule_row} when the stored job cannot be read
   */
  get(name: string): Promise<CronJobInfo | undefined>;
  /**
   * Returns all readable jobs, the next one due first.
   *
   * @example
   *     const names = (await c.cron.list()).map(({ name }) => name);
   */
  list(): Promise<CronJobInfo[]>;
  /**
   * Deletes a job and its history; an occurrence that is running continues. Returns false if there is no such job.
   *
   * @example
   *     await c.cron.delete("digest");
   */
  delete(name: string): Promise<boolean>;
  /**
   * Returns a job's last occurrences, newest first; an empty array if there is no such job. `limit` is 1 to 1,000,
   * default 20.
   *
   * @example
   *     const failed = (await c.cron.history("poll", { limit: 100 })).filter(({ result }) => result === "error");
   * @throws {schedule/invalid_limit} when `limit` is not a whole number from 1 to 1,000
   */
  history(name: string, options?: { readonly limit?: number }): Promise<CronHistoryEntry[]>;
}

/** The last argument of an action that a schedule runs. Times in epoch ms. */
export interface ScheduledFireInfo {
  readonly kind: "at" | "cron" | "every";
  readonly id: string;
  /** The job's name; absent for `at` and `after`. */
  readonly name?: string;
  /** When it was due. */
  readonly scheduledAt: number;
  /** When it began. */
  readonly firedAt: number;
}

/** A schedule of `c.schedule` that has not run. */
export interface ScheduledEvent {
  readonly id: string;
  readonly action: string;
  readonly args: unknown[];
  /** Epoch ms. */
  readonly runAt: number;
}
