import {
  actor,
  type ActorCron,
  type CronEveryOptions,
  type CronHistoryEntry,
  type CronJobInfo,
  type CronSetOptions,
  type ScheduledFireInfo,
} from "../../../src/actor/index.js";
import type { World, WorldOptions } from "../../../src/testing/index.js";
import { single, type Single } from "../subject.js";

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;

export interface CronSubjectOptions extends Partial<WorldOptions> {
  readonly maxSchedules?: number;
  /** What `onCreate`, `onMigrate` and `onWake` register. */
  readonly register?: (cron: ActorCron, hook: "onCreate" | "onMigrate" | "onWake") => unknown;
}

/** An actor whose actions change its recurring jobs as told, and which records what the jobs did. */
export class CronSubject {
  readonly single: Single;

  constructor({ maxSchedules, register, ...options }: CronSubjectOptions = {}) {
    let world: World | undefined;
    this.single = single(
      actor({
        state: { ran: [] as unknown[], count: 0 },
        onCreate: (c) => register?.(c.cron, "onCreate"),
        onMigrate: (c) => register?.(c.cron, "onMigrate"),
        onWake: (c) => register?.(c.cron, "onWake"),
        actions: {
          set: (c, options: CronSetOptions) => c.cron.set(options),
          every: (c, options: CronEveryOptions) => c.cron.every(options),
          get: (c, name: string) => c.cron.get(name),
          list: (c) => c.cron.list(),
          delete: (c, name: string) => c.cron.delete(name),
          history: (c, name: string, options?: { limit?: number }) => c.cron.history(name, options),
          planned: (c) => c.schedule.list(),
          after: (c, delayMs: number, action: string) => c.schedule.after(delayMs, action),
          note: (c, ...args: unknown[]) => {
            c.state.ran.push(args);
          },
          tick: (c, info: ScheduledFireInfo) => {
            c.state.ran.push(info.scheduledAt);
          },
          slow: async (c, durationMs: number, info: ScheduledFireInfo) => {
            c.state.ran.push(`begins ${info.scheduledAt}`);
            await world?.clock.delay(durationMs);
            c.state.ran.push(`ends ${info.scheduledAt}`);
          },
          fail: (c) => {
            c.state.count += 1;
            throw new Error("a recurring action fails");
          },
          nested: { deep: (c) => void c.state.ran.push("deep") },
          destroy: (c) => c.destroy(),
          ran: (c) => c.state.ran,
          count: (c) => c.state.count,
        },
        ...(maxSchedules ? { options: { maxSchedules } } : {}),
      }),
      options,
    );
    world = this.single.world;
  }

  get world(): World {
    return this.single.world;
  }

  get now(): number {
    return this.world.clock.now();
  }

  call(action: string, ...args: unknown[]): Promise<unknown> {
    return this.single.subject.call(action, ...args);
  }

  async ran(): Promise<unknown[]> {
    return (await this.call("ran")) as unknown[];
  }

  async job(name: string): Promise<CronJobInfo | undefined> {
    return (await this.call("get", name)) as CronJobInfo | undefined;
  }

  async history(name: string, limit?: number): Promise<CronHistoryEntry[]> {
    return (await this.call("history", name, ...(limit === undefined ? [] : [{ limit }]))) as CronHistoryEntry[];
  }

  /** Keys of the stored rows, without the actor's own and its state. */
  get keys(): string[] {
    return this.single.subject.store.keys.filter((key) => key !== "a" && key !== "s");
  }

  /** Billed writes: rows and alarms. */
  get written(): { rows: number; alarms: number } {
    return { rows: this.single.subject.store.rows, alarms: this.single.subject.store.alarmWrites };
  }
}
