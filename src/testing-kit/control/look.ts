import { ActorError, decodeValue, LOG_LEVELS, readOptions } from "../../protocol/index.js";
import type { WorldActor } from "../../testing/index.js";
import type { ActorTarget } from "../world/actor-of.js";
import type { WorldHost } from "../world/world-host.js";
import { LogLines, type LineLevel, type LogLine } from "./log-lines.js";
import { StoredActor, type StoredSchedule } from "./stored-actor.js";
import { lookAtWorkflow, type WorkflowLook } from "./workflow-look.js";

/** A message that waits in an actor's queue. */
export interface QueuedMessage {
  readonly id: number;
  /** The queue. */
  readonly name: string;
  readonly body: unknown;
  /** Epoch ms. */
  readonly createdAt: number;
}

/** Which lines of the log. */
export interface LogFilter {
  /** Default: all. */
  readonly actor?: ActorTarget;
  /** The lowest level. Default: "trace", which is all. */
  readonly level?: LineLevel;
}

/** What has been stored of an actor. None of this starts it; what it has not yet stored does not show. */
export interface Look {
  /**
   * The lines that actors have logged so far, `c.log` and Perdure's own; of more than 10,000 the latest.
   *
   * @example
   *     expect(world.logs({ level: "error" })).toEqual([]);
   * @throws TypeError when the filter is not valid
   */
  logs(filter?: LogFilter): LogLine[];
  /**
   * The messages that wait in the actor's queues, the first one first; not those that its workflow has received.
   *
   * @example
   *     expect(world.queue(order)).toMatchObject([{ name: "approvals", body: { by: "ada" } }]);
   * @throws {actor/not_found} when it does not exist
   */
  queue(actor: ActorTarget): QueuedMessage[];
  /**
   * What the actor has scheduled, recurring jobs included, the next one first.
   *
   * @example
   *     expect(world.schedules(order)).toMatchObject([{ action: "remind", args: ["ada"] }]);
   * @throws {actor/not_found} when it does not exist
   */
  schedules(actor: ActorTarget): StoredSchedule[];
  /**
   * The actor's workflow: how it stands, and all that it has recorded. A sleep that has ended counts as pending until something
   * after it is stored.
   *
   * @example
   *     expect(world.history(order)).toMatchObject({ status: "completed", output: "paid" });
   *     expect(world.history(order).steps("charge")).toMatchObject([{ attempts: 3, result: { id: "ch_1" } }]);
   * @throws {actor/not_found} when it does not exist
   */
  history(actor: ActorTarget): WorkflowLook;
  /**
   * The actor's state; undefined if it has none.
   *
   * @example
   *     expect(world.state(order)).toEqual({ status: "paid" });
   * @throws {actor/not_found} when it does not exist
   */
  state(actor: ActorTarget): unknown;
  /**
   * How many rows the actor has written since this was asked last, changes of its alarm included, which is what the platform
   * bills; not those of its SQL.
   *
   * @example
   *     world.rows(order);
   *     await order.approve();
   *     expect(world.rows(order)).toBe(1);
   * @throws TypeError when it is no actor of this world
   */
  rows(actor: ActorTarget): number;
}

export function lookOf(host: WorldHost): Look {
  const lines = new LogLines();
  host.hooks.onLog = (level, entry) => lines.add(level, entry);
  const counted = new WeakMap<WorldActor, number>();
  const stored = (target: ActorTarget): StoredActor => storedAt(host.actorOf(target));
  return {
    logs: (given) => {
      const fail = (problem: string): TypeError => new TypeError(`world.logs(): ${problem}`);
      const { actor, level = "trace" } = readOptions<LogFilter>("logs", given, ["actor", "level"], fail);
      if (!LOG_LEVELS.includes(level)) throw fail(`level must be one of ${LOG_LEVELS.join(", ")}`);
      const object = actor === undefined ? undefined : host.actorOf(actor);
      return lines.of(level, (line) => object === undefined || isOf(object, line));
    },
    queue: (target) =>
      stored(target)
        .messages()
        .map(({ id, name, body, createdAt }) => ({ id, name, body: decodeValue(body), createdAt })),
    schedules: (target) => stored(target).schedules(),
    history: (target) => lookAtWorkflow(stored(target)),
    state: (target) => stored(target).state(),
    rows: (target) => {
      const object = host.actorOf(target);
      const { rows, alarmWrites } = object.store;
      const before = counted.get(object) ?? 0;
      counted.set(object, rows + alarmWrites);
      return rows + alarmWrites - before;
    },
  };
}

/** @throws {actor/not_found} when no actor lives there */
function storedAt({ store, name, key }: WorldActor): StoredActor {
  const stored = StoredActor.in(store.dump());
  if (stored) return stored;
  const message = `There is no actor ${JSON.stringify(name)} with the key ${JSON.stringify(key)}: it was never created, or is destroyed`;
  throw new ActorError("actor", "not_found", message);
}

function isOf({ name, key }: WorldActor, line: LogLine): boolean {
  return line.actor === name && JSON.stringify(line.key) === JSON.stringify(key);
}
