/**
 * What a program takes of the client that answers its requests itself, without a network. It is no part of `index.ts`,
 * whose users configure the transport and do not make it.
 */
export { resolveConfig } from "./config/client-config.js";
export type { ClientConfig } from "./config/client-config.js";
export type { ClientSocket, ClientSocketClass } from "./config/socket.js";
export type { ConnectionPorts } from "./connection/connection-ports.js";
export { createClientWithTransport } from "./handle/client.js";
export { createHttpTransport } from "./transport/http-transport.js";
export { codecOf, encodeClientInput } from "./transport/load-codec.js";
export type { ActorTransport } from "./transport/transport.js";
