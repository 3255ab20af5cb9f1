// Whether a figure reaches its goal.

/**
 * "1.15 ×" is of the ratio, "60 ms" of our side.
 *
 * @param {import("./measure.mjs").Figure} figure
 * @returns {boolean | undefined} undefined: it has none, or nothing to compare it with
 */
export function isReached({ goal, ratio, perdure, unit }) {
  const [, limit = "", of = ""] = /^([\d.]+) ?(.*)$/.exec(goal ?? "") ?? [];
  if (limit === "") return undefined;
  if (of !== "×" && of !== "" && of !== unit) throw new Error(`A goal in ${of} for a figure in ${unit}: ${goal}`);
  const value = of === "×" ? ratio?.median : perdure.median;
  return value === undefined || value === null || Number.isNaN(value) ? undefined : value <= Number(limit);
}
