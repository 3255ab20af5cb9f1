// Why a goal is missed, by the name of its figure, and its unit where it has several ("write, rows"): written by hand for
// docs/speed.md, which shows those of the goals that are missed and no others. Looked through whenever the page is written.

/** @type {Readonly<Record<string, string>>} */
export const NOTES = {};
