/**
 * What a Worker takes of the client. It is no part of `index.ts`: whoever bundles the HTTP transport, even unused, has the
 * codecs it loads on demand wrapped as chunks.
 */
export { createClientWithTransport } from "./handle/client.js";
export type { ClientOptions } from "./handle/open-connections.js";
export type { BackoffPorts } from "./transport/retry.js";
export {
  createBindingTransport,
  type ActorBinding,
  type BindingCall,
  type BindingRequest,
  type BindingSend,
  type BindingSocket,
  type BindingTarget,
} from "./transport/binding-transport.js";
export { setHomeTransport } from "./transport/home-transport.js";
