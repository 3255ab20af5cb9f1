import { LOG_LEVELS, type LogEntry, type Logger } from "../actor/index.js";

export type LogLevel = (typeof LOG_LEVELS)[number] | "silent";

/** One line of JSON an entry, as the platform's log search likes it; `fields` stand in each. `base`, if given, gets the entries instead. */
export function consoleLog(level: LogLevel, fields: Readonly<Record<string, unknown>>, base?: Logger): Logger {
  const lowest = level === "silent" ? LOG_LEVELS.length : LOG_LEVELS.indexOf(level);
  const whole = (entry: LogEntry): Readonly<Record<string, unknown>> => ({ ...fields, ...(typeof entry === "string" ? { msg: entry } : entry) });
  const at = (name: (typeof LOG_LEVELS)[number]) => {
    if (LOG_LEVELS.indexOf(name) < lowest) return () => {};
    if (base) return (entry: LogEntry) => base[name](whole(entry));
    // oxlint-disable-next-line no-console -- this is the sink behind the logger port
    const write = name === "error" || name === "fatal" ? console.error : name === "warn" ? console.warn : console.log;
    return (entry: LogEntry) => write(JSON.stringify({ level: name, ...whole(entry) }, replacer));
  };
  return { trace: at("trace"), debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error"), fatal: at("fatal") };
}

function replacer(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  return value instanceof Error ? { name: value.name, message: value.message, stack: value.stack } : value;
}
