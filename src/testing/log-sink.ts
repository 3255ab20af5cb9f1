import type { Logger } from "../actor/index.js";
import { withFields } from "./log-fields.js";

/** A logger that gives every line to a test. */
export function logSink(onLog: ((level: string, entry: unknown) => void) | undefined): Logger {
  const at = (level: string) => (entry: unknown) => onLog?.(level, entry);
  return withFields({
    trace: at("trace"),
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    fatal: at("fatal"),
  });
}
