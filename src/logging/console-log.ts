import type { LogEntry, Logger, LogSink } from "../actor/index.js";
import { LOG_LEVELS, type LogLevel } from "../protocol/index.js";

/**
 * A logger that writes each entry as one line of JSON, for the platform's log search. `fields` are added to every
 * entry; `base`, if given, gets the entries instead.
 */
export function consoleLog(level: LogLevel, fields: Readonly<Record<string, unknown>>, base?: LogSink): Logger {
  const lowest = level === "silent" ? LOG_LEVELS.length : LOG_LEVELS.indexOf(level);
  const whole = (entry: LogEntry): Readonly<Record<string, unknown>> => ({
    ...fields,
    ...(typeof entry === "string" ? { msg: entry } : entry),
  });
  const at = (name: (typeof LOG_LEVELS)[number]) => {
    if (LOG_LEVELS.indexOf(name) < lowest) return () => {};
    if (base) return (entry: LogEntry) => base[name](whole(entry));
    // oxlint-disable-next-line no-console -- this is the sink behind the logger port
    const write = name === "error" || name === "fatal" ? console.error : name === "warn" ? console.warn : console.log;
    return (entry: LogEntry) => write(JSON.stringify({ level: name, ...whole(entry) }, replacer));
  };
  const child = (more: Readonly<Record<string, unknown>>): Logger => consoleLog(level, { ...fields, ...more }, base);
  return {
    trace: at("trace"),
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    fatal: at("fatal"),
    child,
  };
}

function replacer(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  return value instanceof Error ? { name: value.name, message: value.message, stack: value.stack } : value;
}
