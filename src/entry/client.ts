/** `perdure/client`: calls actors from a browser, a server or a Worker. */
export { ActorClientError, ActorConnDisposed, createClient, MalformedResponseMessage } from "../client/index.js";
export type {
  ClientConfig,
  ClientFetch,
  ClientConfig as ClientConfigInput,
  ClientFor,
  ClientSocket,
  ClientSocketClass,
  Region,
} from "../client/index.js";
export { ActorError, RivetError, UserError } from "../protocol/page.js";
export type { Encoding } from "../protocol/page.js";
export type {
  ActionRequest as ActorActionOptions,
  ActorAccessor,
  ActorConn,
  ActorConnStatus,
  ActorHandle,
  AnyClient,
  Client,
  ConnectOptions,
  CreateOptions,
  ExtractActorsFromRegistry,
  GetOptions,
  GetOrCreateOptions,
  SendResult,
  Unsubscribe as EventUnsubscribe,
  WebSocketOptions,
} from "../actor/api/client-types.js";
