import { LOG_LEVELS } from "../../protocol/index.js";

/** The level of a line. */
export type LineLevel = (typeof LOG_LEVELS)[number];

/** A line of an actor's log. */
export interface LogLine {
  readonly level: LineLevel;
  readonly msg?: string;
  /** The name of the actor, once it is known. */
  readonly actor?: string;
  readonly key?: readonly string[];
  readonly [field: string]: unknown;
}

/** How many lines are kept: the latest. */
const MAX_LINES = 10_000;

/** The log of all actors of a world. */
export class LogLines {
  #lines: LogLine[] = [];

  add(level: string, entry: unknown): void {
    const fields = typeof entry === "string" ? { msg: entry } : (entry as object);
    this.#lines.push({ ...fields, level: level as LineLevel });
    if (this.#lines.length >= 2 * MAX_LINES) this.#lines = this.#lines.slice(-MAX_LINES);
  }

  /** Those of at least this level that `isMeant` takes. */
  of(lowest: LineLevel, isMeant: (line: LogLine) => boolean): LogLine[] {
    const first = LOG_LEVELS.indexOf(lowest);
    return this.#lines.slice(-MAX_LINES).filter((line) => LOG_LEVELS.indexOf(line.level) >= first && isMeant(line));
  }
}
