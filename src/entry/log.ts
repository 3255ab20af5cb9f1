/** `perdure/log`: loggers for code outside actors, with the interface of `c.log`. */
export {
  configureBaseLogger,
  configureDefaultLogger,
  getBaseLogger,
  getLogger,
  makeDefaultLogger,
} from "../logging/index.js";
export type { LogEntry, Logger, LogSink } from "../actor/index.js";
export type { LogLevel } from "../protocol/index.js";
