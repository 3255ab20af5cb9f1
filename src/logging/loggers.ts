import type { Logger, LogSink } from "../actor/index.js";
import type { LogLevel } from "../protocol/index.js";
import { consoleLog } from "./console-log.js";

/** Kept for the whole program: it has one log. */
let configured: LogSink | undefined;

/** A logger that writes one line of JSON an entry to the console, from `level` on; default "info". */
export function makeDefaultLogger(level: LogLevel = "info"): Logger {
  return consoleLog(level, {});
}

/**
 * Has a logger of your own (pino, say) write what `getLogger` gives, and what Workers log that are made after this and whose
 * `setup()` names none.
 *
 * @example
 *     configureBaseLogger(pino());
 */
export function configureBaseLogger(logger: LogSink): void {
  configured = logger;
}

/** As `configureBaseLogger`, with the console's logger. */
export function configureDefaultLogger(level?: LogLevel): void {
  configured = makeDefaultLogger(level);
}

/** The logger that was configured, if one was. */
export function configuredLogger(): LogSink | undefined {
  return configured;
}

/** The logger that was configured, or the console's. */
export function getBaseLogger(): Logger {
  return configured ? consoleLog("trace", {}, configured) : makeDefaultLogger();
}

/** The same, whose lines name a part of the program. */
export function getLogger(name = "default"): Logger {
  return getBaseLogger().child({ target: name });
}
