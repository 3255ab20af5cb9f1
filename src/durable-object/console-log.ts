import type { LogEntry, Logger } from "../actor/index.js";

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
export type LogLevel = (typeof LEVELS)[number] | "silent";

/** One line of JSON an entry, as the platform's log search likes it; `fields` stand in each line. */
export function consoleLog(level: LogLevel, fields: Readonly<Record<string, unknown>>): Logger {
  const lowest = level === "silent" ? LEVELS.length : LEVELS.indexOf(level);
  const at = (name: (typeof LEVELS)[number]) => {
    if (LEVELS.indexOf(name) < lowest) return () => {};
    // oxlint-disable-next-line no-console -- this is the sink behind the logger port
    const write = name === "error" || name === "fatal" ? console.error : name === "warn" ? console.warn : console.log;
    return (entry: LogEntry) => write(JSON.stringify({ level: name, ...fields, ...(typeof entry === "string" ? { msg: entry } : entry) }, replacer));
  };
  return { trace: at("trace"), debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error"), fatal: at("fatal") };
}

function replacer(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  return value instanceof Error ? { name: value.name, message: value.message, stack: value.stack } : value;
}
