/**
 * One axis of time for all bars. It is linear, but for long stretches in which nothing begins or ends (a sleep of three days
 * between two steps of a second): each of those is cut to a short break, or nothing else could be seen.
 */
export interface TimeAxis {
  readonly from: number;
  readonly to: number;
  /** Where a time stands, from 0 to 1. */
  at(time: number): number;
  readonly breaks: readonly AxisBreak[];
}

/** A stretch that is drawn shorter than it was. */
export interface AxisBreak {
  readonly from: number;
  readonly to: number;
  /** Where it is drawn. */
  readonly left: number;
  readonly right: number;
}

const MAX_BREAKS = 4;
/** Stretches are cut if all the rest has less than this share. */
const SQUEEZED = 0.2;
/** What is cut is so many times as long as the longest that is not. */
const APART = 4;
/** And it is no blink: short waits between short steps belong to the picture. */
const MIN_CUT_MS = 10_000;
/** What a break takes of the width. */
const BREAK_WIDTH = 0.12;

/** `moments`: when anything began or ended, in any order. */
export function timeAxis(moments: readonly number[]): TimeAxis {
  const sorted = [...new Set(moments)].sort((a, b) => a - b);
  const from = sorted[0] ?? 0;
  const to = sorted.at(-1) ?? from;
  const gaps = cutGaps(sorted, to - from);
  const cutTime = gaps.reduce((sum, [start, end]) => sum + end - start, 0);
  const unit = (1 - gaps.length * BREAK_WIDTH) / Math.max(1, to - from - cutTime);
  const at = (time: number): number => {
    if (to === from) return time < from ? 0 : time > to ? 1 : 0;
    let place = 0;
    let done = from;
    const until = Math.min(to, Math.max(from, time));
    for (const [start, end] of gaps) {
      if (until <= start) break;
      place += (start - done) * unit;
      place += until >= end ? BREAK_WIDTH : (BREAK_WIDTH * (until - start)) / (end - start);
      done = Math.min(until, end);
    }
    return Math.min(1, place + Math.max(0, until - done) * unit);
  };
  return {
    from,
    to,
    at,
    breaks: gaps.map(([start, end]) => ({ from: start, to: end, left: at(start), right: at(end) })),
  };
}

/** The longest stretches without a moment, as far as all others would be squeezed beside them, in the order of time. */
function cutGaps(sorted: readonly number[], span: number): [start: number, end: number][] {
  const gaps = sorted.slice(1).map((end, index): [number, number] => [sorted[index] ?? end, end]);
  gaps.sort(([a, b], [c, d]) => d - c - (b - a));
  let cut = 0;
  let left = span;
  let rest = span;
  for (const [index, [start, end]] of gaps.slice(0, MAX_BREAKS).entries()) {
    rest -= end - start;
    const [nextStart, nextEnd] = gaps[index + 1] ?? [0, 0];
    // With nothing beside them there is nothing to make room for.
    if (rest <= 0 || end - start < MIN_CUT_MS) break;
    if (rest < left * SQUEEZED && end - start >= APART * (nextEnd - nextStart)) {
      cut = index + 1;
      left = rest;
    }
  }
  return gaps.slice(0, cut).sort(([a], [b]) => a - b);
}
