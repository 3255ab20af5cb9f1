import { LOG_LEVELS } from "../protocol/index.js";
import type { LogEntry, Logger, LogSink } from "../actor/ports.js";

type Fields = Readonly<Record<string, unknown>>;

/** A logger each line of which says more; what a line says itself comes first. */
export function withFields(sink: LogSink, fields: Fields = {}): Logger {
  const isBare = Object.keys(fields).length === 0;
  const whole = (entry: LogEntry): LogEntry =>
    isBare ? entry : { ...fields, ...(typeof entry === "string" ? { msg: entry } : entry) };
  const levels = Object.fromEntries(
    LOG_LEVELS.map((level) => [level, (entry: LogEntry) => sink[level](whole(entry))]),
  ) as unknown as LogSink;
  return { ...levels, child: (more) => withFields(sink, { ...fields, ...more }) };
}
