/** Log levels, the least severe first. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

/** The lowest level that is logged. */
export type LogLevel = (typeof LOG_LEVELS)[number] | "silent";
