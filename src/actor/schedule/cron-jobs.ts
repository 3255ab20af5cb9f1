import type { ActorActivation } from "../activation/activation.js";
import { CronHistory, keptCount, withoutOldestPage, type HistoryRows } from "./cron-history.js";
import type { CronJob, DeadlineRows } from "../storage/deadlines.js";

/** The most history entries that all jobs of an actor keep together. */
const MAX_KEPT = 10_000;

/** The recurring jobs of an actor, which are rows of the table of deadlines, and their history. Commits nothing. */
export class CronJobs {
  readonly history: CronHistory;
  readonly #rows: DeadlineRows<CronJob>;

  constructor(activation: HistoryRows & Pick<ActorActivation, "deadlines">) {
    this.#rows = activation.deadlines.jobs;
    this.history = new CronHistory(activation);
  }

  get(name: string): CronJob | undefined {
    return this.#rows.get(name);
  }

  all(): [name: string, job: CronJob][] {
    return this.#rows.all();
  }

  put(name: string, job: CronJob): void {
    const before = this.get(name);
    this.#rows.put(name, job);
    if (before) this.history.prune(name, before, job);
  }

  delete(name: string): void {
    const before = this.get(name);
    if (!before) return;
    this.#rows.delete(name);
    this.history.prune(name, before);
  }

  /** While all jobs together keep too many entries, deletes the oldest page of the job with the longest history. */
  boundHistory(): void {
    for (;;) {
      let sum = 0;
      let longest: readonly [name: string, job: CronJob, kept: number] | undefined;
      for (const [name, job] of this.all()) {
        const kept = keptCount(job);
        // A row that cannot be read has no count.
        if (!(kept > 0)) continue;
        sum += kept;
        if (!longest || kept > longest[2]) longest = [name, job, kept];
      }
      if (sum <= MAX_KEPT || !longest) return;
      this.put(longest[0], withoutOldestPage(longest[1]));
    }
  }
}
