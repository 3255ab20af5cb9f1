import type { Registry } from "../../actor/index.js";
import { readOptions } from "../../protocol/index.js";
import type { WorldActor } from "../../testing/index.js";
import type { ActorTarget } from "../world/actor-of.js";
import { checkTime, readDuration } from "../world/duration.js";
import type { WorldHost } from "../world/world-host.js";
import { PlannedCrashes, type PlannedCrash } from "./planned-crashes.js";

/** At which commit a process dies. */
export type CrashPoint = {
  /** The commit, counted from the next one. Default: 1. */
  readonly commit?: number;
} & (
  | { /** Before it is made: it is lost. */ readonly before: true; readonly after?: false }
  | { /** When it is stored, and nobody was told. */ readonly after: true; readonly before?: false }
);

export interface Control {
  /**
   * The actor's process dies at this moment: what is not stored is lost, its connections break, and its next event, call or
   * alarm starts it anew.
   *
   * @example
   *     world.crash(order);
   * @throws TypeError when it is no actor of this world
   */
  crash(actor: ActorTarget): void;
  /**
   * The actor leaves memory, as in hibernation: what was written is stored, and connections stay open. Like the platform's, it
   * also cuts off what runs: calls in flight break.
   *
   * @example
   *     await world.evict(order);
   * @throws TypeError when it is no actor of this world
   */
  evict(actor: ActorTarget): Promise<void>;
  /**
   * The actor's process dies at one of its next commits.
   *
   * @example
   *     const crash = world.crashOn(order, { commit: 2, before: true });
   *     await order.send("approvals", { by: "ada" });
   *     await world.idle();
   *     expect(crash.fired).toBe(true);
   * @throws TypeError when it is no actor of this world, or the commit is not a whole number from 1 on with either side
   */
  crashOn(actor: ActorTarget, at: CrashPoint): PlannedCrash;
  /**
   * The platform loses the alarm that stands for the actor, as it does after six failed deliveries. Returns the time for which it
   * stood, epoch ms; undefined if there was none. The actor's next event sets it again.
   *
   * @example
   *     world.loseAlarm(order);
   * @throws TypeError when it is no actor of this world
   */
  loseAlarm(actor: ActorTarget): number | undefined;
  /**
   * The platform delivers the actor's alarms late from now on, by this much; `0` ends it.
   *
   * @example
   *     world.delayAlarms(order, "5 minutes");
   * @throws TypeError when it is no actor of this world, or no duration
   */
  delayAlarms(actor: ActorTarget, duration: number | string): void;
  /**
   * The wall clock is set: forward, or back by a negative number or a text with a minus. No time passes: a `setTimeout` has as long
   * to go as before. What has a time of the clock comes sooner or later: alarms, sleeps, schedules, and the timeout of a step that
   * runs. What is due then comes with the next `idle`, `advance` or call.
   *
   * @example
   *     world.jumpClock("-1 hour");
   * @throws TypeError when it is no duration, or leads before 1970 or beyond what a Date can hold
   */
  jumpClock(duration: number | string): void;
}

/** `redeploy` is typed where the whole world is. */
export function controlOf(host: WorldHost): Control & { redeploy(registry: Registry): unknown } {
  const crashes = new PlannedCrashes();
  const objectFor = (method: string, target: ActorTarget): WorldActor => {
    host.checkOpen(method);
    return host.actorOf(target);
  };
  return {
    crash: (target) => objectFor("crash", target).crash(),
    evict: async (target) => objectFor("evict", target).evict(),
    crashOn: (target, at) => {
      const { store } = objectFor("crashOn", target);
      const { commit, fault } = readCrashPoint(at);
      return crashes.plan(store, commit, fault);
    },
    loseAlarm: (target) => {
      const { store } = objectFor("loseAlarm", target);
      const at = store.alarmAt ?? undefined;
      store.setAlarm(null);
      return at;
    },
    delayAlarms: (target, duration) => {
      const delayMs = readDuration("world.delayAlarms()", duration);
      objectFor("delayAlarms", target).alarmDelayMs = delayMs;
    },
    jumpClock: (duration) => {
      host.checkOpen("jumpClock");
      const { clock } = host.world;
      const byMs = readJump(duration);
      checkTime("world.jumpClock()", clock.now() + byMs);
      clock.jump(byMs);
    },
    redeploy(registry) {
      host.checkOpen("redeploy");
      host.deploy(registry);
      return this;
    },
  };
}

function readJump(duration: number | string): number {
  if (typeof duration === "number" && duration < 0) return -readDuration("world.jumpClock()", -duration);
  const text = typeof duration === "string" ? duration.trim() : "";
  return text.startsWith("-")
    ? -readDuration("world.jumpClock()", text.slice(1))
    : readDuration("world.jumpClock()", duration);
}

function readCrashPoint(given: CrashPoint): { commit: number; fault: "crash-before" | "crash-after" } {
  const fail = (problem: string): TypeError => new TypeError(`world.crashOn(): ${problem}`);
  const {
    commit = 1,
    before,
    after,
  } = readOptions<{ commit?: number; before?: boolean; after?: boolean }>(
    "crashOn",
    given,
    ["commit", "before", "after"],
    fail,
  );
  if (!Number.isSafeInteger(commit) || commit < 1) throw fail("commit must be a whole number from 1 on");
  if ((before === true) === (after === true)) throw fail("give either before: true or after: true");
  return { commit, fault: before ? "crash-before" : "crash-after" };
}
