// Turns in alternation, and what they come to. Each round has a turn of every side, so that what the machine does meanwhile
// happens to all; what counts is the ratio of a round, of which the median and the range are told.

/**
 * @typedef {{ median: number, min: number, max: number }} Summary
 * @typedef {"ms" | "s" | "rows" | "fsyncs" | "KiB" | "MiB" | "$ / M" | "times"} Unit
 * @typedef {{ name: string, unit: Unit, bare?: Summary, perdure: Summary, ratio?: Summary, goal?: string }} Figure
 *   `goal`: what it should be at most; "1.15 ×" is of the ratio
 * @typedef {Record<string, number>} Turn what one turn has measured
 * @typedef {{ bare: Turn[], perdure: Turn[] }} Turns
 */

/**
 * Each side's turn as often as there are rounds, after so many that do not count.
 *
 * @param {number} rounds
 * @param {number} warmUps
 * @param {{ bare: () => Promise<Turn>, perdure: () => Promise<Turn> }} sides
 * @returns {Promise<Turns>}
 */
export async function alternate(rounds, warmUps, sides) {
  /** @type {Turns} */
  const turns = { bare: [], perdure: [] };
  for (let round = -warmUps; round < rounds; round += 1) {
    // Whoever comes first in a round has no advantage over the whole.
    const names = /** @type {("bare" | "perdure")[]} */ (["bare", "perdure"]);
    for (const side of round % 2 === 0 ? names : names.toReversed()) {
      const turn = await sides[side]();
      if (round >= 0) turns[side].push(turn);
    }
  }
  return turns;
}

/**
 * @param {Turns} turns
 * @param {string} key
 * @param {{ name: string, unit?: Unit, goal?: string }} about
 * @returns {Figure}
 */
export function figure({ bare, perdure }, key, { name, unit = "ms", goal }) {
  const [byHand, ours] = [valuesOf(bare, key), valuesOf(perdure, key)];
  const ratios = ours.map((value, round) => value / (byHand[round] ?? Number.NaN)).filter(Number.isFinite);
  return {
    name,
    unit,
    ...(byHand.length > 0 && { bare: summary(byHand) }),
    perdure: summary(ours),
    ...(ratios.length > 0 && { ratio: summary(ratios) }),
    ...(goal !== undefined && { goal }),
  };
}

/**
 * A figure of our side alone, or of both where there is no turn: what does not change from one to the next.
 *
 * @param {Omit<Figure, "bare" | "perdure" | "ratio"> & { bare?: number, perdure: number }} about
 * @returns {Figure}
 */
export function counted({ bare, perdure, ...about }) {
  const turns = { bare: bare === undefined ? [] : [{ value: bare }], perdure: [{ value: perdure }] };
  return figure(turns, "value", about);
}

/**
 * Runs one after the other, and gives the milliseconds of each.
 *
 * @param {number} count
 * @param {(index: number) => Promise<unknown>} run
 */
export async function timesOf(count, run) {
  /** @type {number[]} */
  const times = [];
  for (let index = 0; index < count; index += 1) times.push(await timed(() => run(index)));
  return times;
}

/** @param {() => Promise<unknown>} run */
export async function timed(run) {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

/** @param {readonly number[]} values */
export function median(values) {
  return quantile(values, 0.5);
}

/**
 * @param {readonly number[]} values
 * @param {number} part
 */
export function quantile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

/** @param {readonly number[]} values */
function summary(values) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/**
 * @param {readonly Turn[]} turns
 * @param {string} key
 */
function valuesOf(turns, key) {
  return turns.flatMap((turn) => {
    const value = turn[key];
    return value === undefined || Number.isNaN(value) ? [] : [value];
  });
}
