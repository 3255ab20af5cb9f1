import type { Logger, LogSink } from "../actor/index.js";
import type { LogLevel } from "../protocol/index.js";
import { consoleLog } from "./console-log.js";

/** Module state, since a program has one log. */
let configured: LogSink | undefined;

/**
 * Returns a logger that writes each entry of at least `level` (default "info") to the console, as one line of JSON.
 *
 * @example
 *     makeDefaultLogger("debug").debug({ msg: "started", port: 8787 });
 */
export function makeDefaultLogger(level: LogLevel = "info"): Logger {
  return consoleLog(level, {});
}

/**
 * Sets the logger behind `getLogger`, and behind Workers created later whose `setup()` names none: pino, for example.
 *
 * @example
 *     configureBaseLogger(pino());
 */
export function configureBaseLogger(logger: LogSink): void {
  configured = logger;
}

/**
 * Sets the console logger of `makeDefaultLogger` as the base logger.
 *
 * @example
 *     configureDefaultLogger("warn");
 */
export function configureDefaultLogger(level?: LogLevel): void {
  configured = makeDefaultLogger(level);
}

/** The configured logger, if there is one. */
export function configuredLogger(): LogSink | undefined {
  return configured;
}

/**
 * Returns the configured logger, or the console's.
 *
 * @example
 *     getBaseLogger().info("ready");
 */
export function getBaseLogger(): Logger {
  return configured ? consoleLog("trace", {}, configured) : makeDefaultLogger();
}

/**
 * Returns the base logger with a name that is added to every entry as `target`.
 *
 * @example
 *     const log = getLogger("billing");
 */
export function getLogger(name = "default"): Logger {
  return getBaseLogger().child({ target: name });
}
