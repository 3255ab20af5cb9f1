/** Recurring actions, as user code sees them. All times in epoch ms, all durations in ms. */

interface CronOptions {
  /** Which job it is, 1 to 128 bytes: a second `set` or `every` under the same name changes it. */
  readonly name: string;
  /** The action that runs; nested ones with dots. */
  readonly action: string;
  /** Its arguments; a `ScheduledFireInfo` follows them. Default none. */
  readonly args?: readonly unknown[];
  /** How many of its last occurrences are kept: 0 (none) to 1,000, default 100. */
  readonly maxHistory?: number;
}

export interface CronSetOptions extends CronOptions {
  /** Five fields: minute, hour, day of the month, month, day of the week. */
  readonly expression: string;
  /** The time zone in which the fields are read, "Europe/Berlin"; default "UTC". */
  readonly timezone?: string;
}

export interface CronEveryOptions extends CronOptions {
  /** At least 5,000, whole. */
  readonly interval: number;
}

/** A recurring job as it is stored. */
export type CronJobInfo = {
  readonly name: string;
  readonly action: string;
  readonly args: unknown[];
  readonly nextRunAt: number;
  /** When it fired last; absent before the first time. */
  readonly lastRunAt?: number;
  readonly maxHistory: number;
} & (
  | { readonly kind: "cron"; readonly expression: string; readonly timezone: string }
  | { readonly kind: "every"; readonly interval: number }
);

/** What became of one occurrence. `skipped`: the one before it still ran, or the actor had been cut off again and again. */
export interface CronHistoryEntry {
  readonly action: string;
  /** When it was due; the first of those that were missed together. */
  readonly scheduledAt: number;
  /** When it began, or was skipped. */
  readonly firedAt: number;
  readonly finishedAt?: number;
  readonly result: "running" | "ok" | "error" | "skipped";
  /** What the action threw, or `schedule/interrupted` if a crash cut it off. The message is the error's own, unmasked. */
  readonly error?: {
    readonly group: string;
    readonly code: string;
    readonly message: string;
    readonly metadata?: unknown;
  };
}

/**
 * Actions of this actor that run again and again; stored, and dropped with the actor.
 *
 * An occurrence runs once or, when a crash cuts it off, less than that: it is not repeated, it stands in the history as an
 * error, and the next one runs. Occurrences that were missed (the object could not be woken) run once together. One that
 * is due while the one before it runs is skipped.
 */
export interface ActorCron {
  /**
   * Runs an action whenever the expression comes true in the time zone. Local times that a change of the clocks leaves out
   * are no occurrences; one that comes twice is one if minute and hour are single numbers, else two.
   *
   * Under a name that exists it changes that job: with the same expression and time zone the next time stays. With nothing
   * changed it writes nothing, so that `onWake` may call it at every start.
   *
   * @throws schedule/invalid_name, invalid_cron_expression, invalid_timezone, invalid_max_history, invalid_args,
   * max_schedules_exceeded; actor/action_not_found; value/not_serializable, value/too_large. Nothing is changed then.
   */
  set(options: CronSetOptions): Promise<void>;
  /**
   * Runs an action every `interval` ms, on a grid that begins when the job is made, however late the wakes are. The first
   * time is one interval from now. Under a name that exists as `set`; another interval begins a new grid.
   *
   * @throws schedule/invalid_interval, and what `set` throws
   */
  every(options: CronEveryOptions): Promise<void>;
  /** @throws schedule/invalid_schedule_row if what is stored cannot be read */
  get(name: string): Promise<CronJobInfo | undefined>;
  /** All jobs that can be read, the one that is due next first. */
  list(): Promise<CronJobInfo[]>;
  /** Ends a job and deletes its history; what runs already runs on. False: there is none of that name. */
  delete(name: string): Promise<boolean>;
  /**
   * Its last occurrences, newest first: `limit` of them, 1 to 1,000, default 20. None if there is no such job.
   * @throws schedule/invalid_limit
   */
  history(name: string, options?: { readonly limit?: number }): Promise<CronHistoryEntry[]>;
}

/** What a scheduled action gets after its own arguments. Times in epoch ms. */
export interface ScheduledFireInfo {
  readonly kind: "at" | "cron" | "every";
  readonly id: string;
  readonly name?: string;
  readonly scheduledAt: number;
  readonly firedAt: number;
}

export interface ScheduledEvent {
  readonly id: string;
  readonly action: string;
  readonly args: unknown[];
  /** Epoch ms. */
  readonly runAt: number;
}
