import { DUE_PER_PASS, MAX_INTERRUPTIONS } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { Background } from "../callbacks/background.js";
import type { FireOrder } from "./fire-order.js";
import { askedAt, ScheduleApi } from "./schedule-api.js";
import type { DeadlineRows, ScheduleRow } from "../storage/deadlines.js";
import type { ScheduledFireInfo } from "../api/schedule-types.js";
import { runScheduled } from "./run-scheduled.js";

/**
 * Runs scheduled actions when they are due: at least once, their committed effects once (ALARM-10).
 *
 * Owns: which schedules are running or queued. Usually nothing is stored before one runs, and all that are due run
 * concurrently. After a cut-off they run one at a time, each marked on disk first, so that a start knows which one was
 * running. One that is found marked again and again is dropped, and no other with it (ALARM-14).
 */
export class DueSchedules {
  /** `c.schedule`. */
  readonly view: ScheduleApi;
  readonly #activation: ActorActivation;
  readonly #order: FireOrder;
  readonly #rows: DeadlineRows<ScheduleRow>;
  readonly #running = new Set<string>();
  /** Schedules that wait to run alone. */
  readonly #queued = new Set<string>();

  constructor(activation: ActorActivation, order: FireOrder) {
    this.#activation = activation;
    this.#order = order;
    this.#rows = activation.deadlines.schedules;
    this.view = new ScheduleApi(activation, (id) => this.#running.has(id));
  }

  /** For a boot that found a lease: counts the interruption of marked schedules. Commits nothing. */
  settleInterrupted(): void {
    for (const [id, row] of this.#rows.all())
      if (row.running) this.#rows.put(id, { ...row, running: false, interrupted: cutOffs(row) + 1 });
  }

  /** Starts due schedules in order of time. A row is deleted in the last commit of its action. */
  fireDue(background: Background): void {
    const firedAt = this.#activation.ports.now();
    const due = this.#rows
      .all()
      .filter(([id, row]) => row.at <= firedAt && !this.#running.has(id) && !this.#queued.has(id))
      .filter(([, row]) => !(this.#order.isWary && isSuspect(row)) || isGuilty(row))
      .sort(([, a], [, b]) => cutOffs(a) - cutOffs(b) || a.at - b.at);
    for (const [id, row] of due.slice(0, DUE_PER_PASS)) {
      const what = `Scheduled action "${row.action}"`;
      if (isGuilty(row)) {
        this.#activation.ports.log.error({
          msg: `${what} was cut off ${MAX_INTERRUPTIONS} times and is dropped`,
          code: "schedule/interrupted",
          id,
        });
        this.#rows.delete(id);
      } else if (this.#order.isCareful || isSuspect(row)) {
        this.#queued.add(id);
        background.run(what, () => this.#order.alone(() => this.#fireAlone(id)));
      } else {
        this.#running.add(id);
        background.run(what, () => this.#order.beside(() => this.#fire(id, row, firedAt)));
      }
    }
    if (due.length > DUE_PER_PASS) background.run("The next pass of schedules", () => this.#nextPass(background));
  }

  /** Runs as background work, so that the lease is held until the next pass begins. */
  async #nextPass(background: Background): Promise<void> {
    await this.#activation.ports.yield();
    if (!this.#activation.shutdown.signal.aborted) this.fireDue(background);
  }

  /** Marks a schedule on disk and runs it when its turn comes, if it still exists. */
  async #fireAlone(id: string): Promise<void> {
    this.#queued.delete(id);
    const row = this.#rows.get(id);
    if (!row || this.#activation.shutdown.isBegun || this.#activation.abortSignal.aborted) return;
    this.#running.add(id);
    this.#rows.put(id, { ...row, running: true });
    this.#activation.commitOrThrow();
    await this.#activation.confirmed();
    if (this.#activation.abortSignal.aborted) return;
    if (this.#activation.shutdown.isBegun) {
      // The actor goes to sleep or ends: the action stays due.
      this.#running.delete(id);
      this.#rows.put(id, row);
      this.#activation.commit();
      return;
    }
    await this.#fire(id, row, this.#activation.ports.now());
  }

  async #fire(id: string, row: ScheduleRow, firedAt: number): Promise<void> {
    const info: ScheduledFireInfo = { kind: "at", id, scheduledAt: askedAt(row), firedAt };
    await runScheduled(this.#activation, row, info, () => {
      this.#running.delete(id);
      this.#rows.delete(id);
    });
  }
}

function cutOffs({ interrupted = 0 }: ScheduleRow): number {
  return interrupted;
}

function isSuspect(row: ScheduleRow): boolean {
  return cutOffs(row) > 0;
}

function isGuilty(row: ScheduleRow): boolean {
  return cutOffs(row) >= MAX_INTERRUPTIONS;
}
