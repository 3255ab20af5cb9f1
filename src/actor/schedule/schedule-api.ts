import { ActorError, decodeValue, encodeValue } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { DeadlineRows, ScheduleRow } from "../storage/deadlines.js";
import { describe } from "../activation/thrown.js";
import type { ScheduledEvent } from "../api/schedule-types.js";
import { checkScheduleRoom, type ScheduleLimitHost } from "./run-scheduled.js";

/**
 * While the lease is held, the alarm ignores deadlines that have passed, so a past time is moved this far ahead, in ms.
 */
const SOON_MS = 20;
/** The last time that a Date can hold. Later times are cut to it. */
const LAST_TIME = 8.64e15;

/** What `c.schedule` needs from its actor. */
type ScheduleHost = Pick<ActorActivation, "lease" | "commitOrThrow"> & ScheduleLimitHost;

/** `c.schedule`. Running the actions is due-schedules.ts's job. */
export class ScheduleApi {
  readonly #activation: ScheduleHost;
  readonly #rows: DeadlineRows<ScheduleRow>;
  readonly #isRunning: (id: string) => boolean;

  constructor(activation: ScheduleHost, isRunning: (id: string) => boolean) {
    this.#activation = activation;
    this.#rows = activation.deadlines.schedules;
    this.#isRunning = isRunning;
  }

  /** Schedules an action `delayMs` from now. Returns the schedule's id once it is committed. */
  after(delayMs: number, action: string, ...args: unknown[]): Promise<string> {
    return this.at(typeof delayMs === "number" ? this.#activation.ports.now() + delayMs : Number.NaN, action, ...args);
  }

  /**
   * Schedules an action at a time in epoch ms; one that has passed runs at once. Returns the schedule's id once it is
   * committed.
   * @throws {schedule/invalid_time} when the time is not a finite number
   * @throws {actor/action_not_found} when the actor has no such action
   * @throws {schedule/max_schedules_exceeded} when the actor has `maxSchedules` already
   */
  async at(time: number, action: string, ...args: unknown[]): Promise<string> {
    if (typeof time !== "number" || !Number.isFinite(time))
      throw new ActorError("schedule", "invalid_time", "The time of a schedule must be a finite number of ms");
    if (!this.#activation.actor.actions.has(action))
      throw new ActorError("actor", "action_not_found", `Action \`${String(action)}\` was not found.`);
    checkScheduleRoom(this.#activation);
    const at = Math.min(time, LAST_TIME);
    const id = this.#activation.ports.randomHex(16);
    const soon = this.#activation.ports.now() + SOON_MS;
    const when = this.#activation.lease && at < soon ? { at: soon, askedAt: at } : { at };
    this.#rows.put(id, { ...when, action, args: encodeValue(args, { what: "args" }) });
    this.#activation.commitOrThrow();
    return id;
  }

  async get(id: string): Promise<ScheduledEvent | undefined> {
    const row = this.#rows.get(id);
    return row && describeSchedule(id, row);
  }

  /** Lists schedules in order of time. Leaves out rows that cannot be read: a later release may have written them. */
  async list(): Promise<ScheduledEvent[]> {
    return this.#rows
      .all()
      .flatMap(([id, row]) => this.#legible(id, row) ?? [])
      .sort((a, b) => a.runAt - b.runAt);
  }

  async cancel(id: string): Promise<boolean> {
    if (!this.#rows.get(id) || this.#isRunning(id)) return false;
    this.#rows.delete(id);
    this.#activation.commitOrThrow();
    return true;
  }

  #legible(id: string, row: ScheduleRow): ScheduledEvent | undefined {
    try {
      return describeSchedule(id, row);
    } catch (error) {
      this.#activation.ports.log.error({
        msg: `The schedule ${id} cannot be read`,
        code: "schedule/invalid_schedule_row",
        stack: describe(error),
      });
      return undefined;
    }
  }
}

/** A stored schedule, decoded. */
export function describeSchedule(id: string, row: ScheduleRow): ScheduledEvent {
  return { id, action: row.action, args: decodeValue(row.args) as unknown[], runAt: askedAt(row) };
}

export function askedAt(row: ScheduleRow): number {
  return row.askedAt ?? row.at;
}
