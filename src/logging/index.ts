export { consoleLog } from "./console-log.js";
export {
  configureBaseLogger,
  configureDefaultLogger,
  configuredLogger,
  getBaseLogger,
  getLogger,
  makeDefaultLogger,
} from "./loggers.js";
