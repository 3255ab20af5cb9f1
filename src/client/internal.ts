/** For tests and benches; nothing in `src` imports this. */
export { resolveConfig } from "./config/client-config.js";
export {
  advance,
  newConnection,
  statusOf,
  type ConnectionEffect,
  type ConnectionEvent,
  type ConnectionState,
} from "./connection/connection-state.js";
export { codecOf, onceLoaded } from "./transport/load-codec.js";
export { createHttpTransport } from "./transport/http-transport.js";
export { holdSocket } from "./config/socket.js";
