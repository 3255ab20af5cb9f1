import type { CommitFault } from "../../src/testing/index.js";

/**
 * Crashes at random commits, but never so often that a step is cut off for good: ten times in a row is the end of a step
 * (ALARM-14), and has tests of its own.
 */
export function occasionalCrashes(random: () => number, rate: number): CommitFault {
  let commits = 0;
  let crashedAt: number[] = [];
  return () => {
    const roll = random();
    commits += 1;
    crashedAt = crashedAt.filter((at) => at > commits - 40);
    if (crashedAt.length > 1 || roll >= rate) return undefined;
    crashedAt.push(commits);
    return roll < rate / 2 ? "crash-before" : "crash-after";
  };
}
