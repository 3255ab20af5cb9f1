/** Levels of the log, the least urgent first. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

/** The lowest level that is logged. */
export type LogLevel = (typeof LOG_LEVELS)[number] | "silent";
