// Counted: the rows each operation writes, alarms among them, and how often it waits for the disk; and what a million of it
// costs. None of these is woken by an alarm.
import { setTimeout as delay } from "node:timers/promises";
import { action, call, message, written } from "../calls.mjs";
import { counted, timed } from "../measure.mjs";
import { dollarsPerMillion } from "../prices.mjs";

/**
 * @typedef {import("../side.mjs").Side} Side
 * @typedef {{ name: string, actor: string, times: number, isNew?: boolean, goal?: string, fsyncGoal?: string,
 *   make: (side: Side, key: string) => import("../calls.mjs").Call }} Operation
 */

const UNTIL_QUIET_MS = 300;
const HOUR_MS = 3_600_000;

/** @type {import("../job.mjs").Job} */
export const rows = {
  name: "rows",
  title: "Rows written, alarms among them, fsyncs, and dollars for a million",
  run: (bench) =>
    bench.withSides(async ({ bare, perdure }) => {
      const alarmRows = await call(bare, action(bare, "rows", "alarms", "alarmRows"));
      const times = bench.pick(20, 2);
      const figures = [];
      for (const operation of operations(bench, times)) {
        const [byHand, ours] = [await cost(bare, operation, alarmRows), await cost(perdure, operation, alarmRows)];
        const goal = operation.goal === undefined ? {} : { goal: operation.goal };
        figures.push(
          counted({ name: operation.name, unit: "rows", bare: byHand.rows, perdure: ours.rows, ...goal }),
          counted({
            name: operation.name,
            unit: "fsyncs",
            bare: byHand.fsyncs,
            perdure: ours.fsyncs,
            ...(operation.fsyncGoal !== undefined && { goal: operation.fsyncGoal }),
          }),
          counted({ name: operation.name, unit: "$ / M", bare: byHand.dollars, perdure: ours.dollars }),
        );
      }
      return figures;
    }),
};

/**
 * @param {import("../job.mjs").Bench} bench
 * @param {number} times
 * @returns {Operation[]}
 */
function operations(bench, times) {
  const reply = { wait: true };
  const isBare = (/** @type {Side} */ side) => side.name === "bare";
  return [
    { name: "write", actor: "value", times, make: (side, key) => action(side, "value", key, "set", bench.fresh()) },
    { name: "read", actor: "value", times, make: (side, key) => action(side, "value", key, "get") },
    {
      name: "new actor and first call",
      actor: "value",
      times: 1,
      isNew: true,
      make: (side, key) => action(side, "value", key, "set", 1),
      goal: "2 rows",
    },
    {
      name: "message from outside, taken",
      actor: "inbox",
      times,
      make: (side, key) => message(side, "inbox", key, bench.fresh()),
      goal: "6 rows",
    },
    {
      name: "request and reply",
      actor: "echo",
      times,
      make: (side, key) => message(side, "echo", key, bench.fresh(), reply),
      goal: "8 rows",
      fsyncGoal: "1 fsyncs",
    },
    {
      name: "new actor, and a message that sends it to sleep",
      actor: "sleeper",
      times: 1,
      isNew: true,
      make: (side, key) => {
        const at = Date.now() + HOUR_MS;
        return isBare(side) ? action(side, "sleeper", key, "sleepUntil", at) : message(side, "sleeper", key, at);
      },
    },
    ...many(bench, "step", "steps", (side, key, count) =>
      isBare(side) ? action(side, "steps", key, "steps", count, true) : message(side, "steps", key, count, reply),
    ),
    ...many(bench, "step that changes state", "changing", (side, key, count) =>
      isBare(side)
        ? action(side, "changing", key, "changingSteps", count)
        : message(side, "changing", key, count, reply),
    ),
    ...many(
      bench,
      "loop iteration",
      "loops",
      (side, key, count) =>
        isBare(side) ? action(side, "loops", key, "iterate", count) : message(side, "loops", key, count, reply),
      "5 rows",
    ),
  ];
}

/**
 * An operation that is one of many in a burst of work; the burst's own rows are a small part of each.
 *
 * @param {import("../job.mjs").Bench} bench
 * @param {string} name
 * @param {string} actor
 * @param {(side: Side, key: string, count: number) => import("../calls.mjs").Call} run
 * @param {string} [goal]
 * @returns {(Operation & { count: number })[]}
 */
function many(bench, name, actor, run, goal) {
  const count = bench.pick(1_000, 10);
  const about = { name: `${name}, of ${count.toLocaleString("en")}`, actor, times: 1, count };
  return [{ ...about, make: (side, key) => run(side, key, count), ...(goal !== undefined && { goal }) }];
}

/**
 * @param {Side} side
 * @param {Operation & { count?: number }} operation
 * @param {number} alarmRows what the count of rows has for an alarm
 */
async function cost(side, { actor, times, count = 1, isNew = false, make }, alarmRows) {
  const key = "rows";
  // The first finds an actor that is there, unless its creation is what is measured.
  if (!isNew) await call(side, make(side, key));
  const measured = isNew ? `new-${key}` : key;
  const before = isNew ? { rows: 0, alarms: 0 } : await quiet(side, actor, measured);
  const fsyncs = side.fsyncs;
  let ms = 0;
  for (let index = 0; index < times; index += 1) {
    ms += await timed(() => call(side, make(side, measured)));
    // Each a burst of its own, with what it does after its answer.
    await quiet(side, actor, measured);
  }
  const after = await written(side, actor, measured);
  const alarms = after.alarms - before.alarms;
  const operations = times * count;
  const rows = (after.rows - before.rows + alarms * (1 - alarmRows)) / operations;
  return {
    rows,
    fsyncs: (side.fsyncs - fsyncs) / operations,
    dollars: dollarsPerMillion({ rows, requests: times / operations, ms: ms / operations }),
  };
}

/**
 * What is written once the object writes no more, and the disk has it.
 *
 * @param {Side} side
 * @param {string} actor
 * @param {string} key
 */
async function quiet(side, actor, key) {
  for (let [last, fsyncs] = [await written(side, actor, key), side.fsyncs]; ;) {
    await delay(UNTIL_QUIET_MS / 3);
    const now = await written(side, actor, key);
    // NaN where nothing is counted.
    if (now.rows === last.rows && now.alarms === last.alarms && Object.is(side.fsyncs, fsyncs)) return now;
    [last, fsyncs] = [now, side.fsyncs];
  }
}
