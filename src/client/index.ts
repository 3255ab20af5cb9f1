export { reconnectDelayMs } from "./connection/reconnect-delay.js";
export type { BackoffPorts } from "./transport/retry.js";
export { type ClientConfig, type ClientFetch, type Region, type ResolvedConfig } from "./config/client-config.js";
export { ActorConnDisposed } from "./connection/connection-errors.js";
export { type ConnStatus } from "./connection/connection-state.js";
export type { ConnectionPorts } from "./connection/connection-ports.js";
export { createClient, type ClientFor } from "./handle/create-client.js";
export { ActorClientError, MalformedResponseMessage } from "./config/errors.js";
export type { ClientOptions } from "./handle/open-connections.js";
export { type ClientSocket, type ClientSocketClass } from "./config/socket.js";
export type {
  ActionCall,
  ActorTarget,
  ActorTransport,
  CreateCall,
  FetchCall,
  SendCall,
  SocketCall,
  TargetCall,
} from "./transport/transport.js";
