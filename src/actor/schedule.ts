import { ActorError, decodeValue, encodeValue } from "../protocol/index.js";
import { MAX_INTERRUPTIONS } from "../workflow/index.js";
import type { ActorActivation, Callback, DeadlineRow } from "./activation.js";
import type { Background } from "./background.js";
import type { ScheduledEvent, ScheduledFireInfo } from "./schedule-types.js";
import { checkScheduleRoom, DUE_PER_PASS, runScheduled } from "./scheduled-run.js";

interface ScheduleRow extends DeadlineRow {
  /** The time that was asked for, where `at` is a later one. */
  readonly askedAt?: number;
  readonly action: string;
  readonly args: Uint8Array;
}

const PREFIX = "at/";
/** While the lease is held, the alarm passes over what is due: a time that has passed already is put off so little. */
const SOON_MS = 20;

/** `c.schedule`: actions of this actor at a later time. They run at least once; their committed effects once (decision 21). */
export class Schedule {
  readonly #activation: ActorActivation;
  readonly #running = new Set<string>();

  constructor(activation: ActorActivation) {
    this.#activation = activation;
  }

  /** Runs the action `delayMs` from now; gives the schedule's id. Stored with the next commit. */
  after(delayMs: number, action: string, ...args: unknown[]): Promise<string> {
    return this.at(typeof delayMs === "number" ? this.#activation.ports.now() + delayMs : Number.NaN, action, ...args);
  }

  /** Runs the action at a time in epoch ms; at once if it has passed. @throws schedule/invalid_time, actor/action_not_found, schedule/max_schedules_exceeded */
  async at(time: number, action: string, ...args: unknown[]): Promise<string> {
    if (typeof time !== "number" || !Number.isFinite(time)) throw new ActorError("schedule", "invalid_time", "A schedule needs a finite time in ms");
    if (!this.#activation.actor.actions.has(action)) throw new ActorError("actor", "action_not_found", `Action \`${action}\` was not found.`);
    checkScheduleRoom(this.#activation);
    const id = this.#activation.ports.randomHex(16);
    const soon = this.#activation.ports.now() + SOON_MS;
    const when = this.#activation.lease && time < soon ? { at: soon, askedAt: time } : { at: time };
    const row: ScheduleRow = { ...when, action, args: encodeValue(args, { what: "args" }) };
    this.#activation.setDeadline(PREFIX + id, row);
    this.#activation.commitOrThrow();
    return id;
  }

  async get(id: string): Promise<ScheduledEvent | undefined> {
    const row = this.#activation.deadline(PREFIX + id) as ScheduleRow | undefined;
    return row && toEvent(id, row);
  }

  async list(): Promise<ScheduledEvent[]> {
    return this.#rows()
      .map(([id, row]) => toEvent(id, row))
      .sort((a, b) => a.runAt - b.runAt);
  }

  async cancel(id: string): Promise<boolean> {
    if (!this.#activation.deadline(PREFIX + id) || this.#running.has(id)) return false;
    this.#activation.clearDeadline(PREFIX + id);
    this.#activation.commitOrThrow();
    return true;
  }

  /** Starts what is due, in time order; the lease joins the dirty set. The row goes with the action's last commit. */
  fireDue(background: Background): void {
    const firedAt = this.#activation.ports.now();
    const due = this.#rows()
      .filter(([id, row]) => row.at <= firedAt && !this.#running.has(id))
      .sort(([, a], [, b]) => a.at - b.at);
    const isDropping = (this.#activation.lease?.found ?? 0) >= MAX_INTERRUPTIONS;
    for (const [id, row] of due.slice(0, DUE_PER_PASS)) {
      if (isDropping) {
        this.#activation.ports.log.error({ msg: `Scheduled action "${row.action}" was cut off ${MAX_INTERRUPTIONS} times and is dropped`, id });
        this.#activation.clearDeadline(PREFIX + id);
        continue;
      }
      this.#running.add(id);
      const info: ScheduledFireInfo = { kind: "at", id, scheduledAt: askedAt(row), firedAt };
      background.run(`Scheduled action "${row.action}"`, () => this.#fire(id, row, info));
    }
    // What this pass drops explains the cut-offs: the rest gets a new lease, with its own wake.
    if (due.length > DUE_PER_PASS && !isDropping) background.run("The next pass of schedules", () => this.#nextPass(background));
  }

  /** Runs as background work, so that the lease that guards what is due is held until it begins. */
  async #nextPass(background: Background): Promise<void> {
    await this.#activation.ports.yield();
    if (!this.#activation.shutdown.signal.aborted) this.fireDue(background);
  }

  async #fire(id: string, row: ScheduleRow, info: ScheduledFireInfo): Promise<void> {
    const callback: Callback = {};
    try {
      await runScheduled(this.#activation, row, info, callback);
    } finally {
      this.#running.delete(id);
      this.#activation.clearDeadline(PREFIX + id);
      this.#activation.commit();
      this.#activation.callbackEnded(callback);
    }
  }

  #rows(): [string, ScheduleRow][] {
    return [...this.#activation.deadlines()]
      .filter(([id]) => id.startsWith(PREFIX))
      .map(([id, row]) => [id.slice(PREFIX.length), row as ScheduleRow]);
  }
}

function toEvent(id: string, row: ScheduleRow): ScheduledEvent {
  return { id, action: row.action, args: decodeValue(row.args) as unknown[], runAt: askedAt(row) };
}

function askedAt(row: ScheduleRow): number {
  return row.askedAt ?? row.at;
}
