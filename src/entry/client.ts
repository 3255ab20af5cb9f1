/** `perdure/client`: calls actors from a browser, a server or a Worker. */
export { ActorClientError, createClient, MalformedResponseMessage } from "../client/index.js";
export type { ClientConfig, ClientFetch, ClientConfig as ClientConfigInput, ClientFor, Region } from "../client/index.js";
export { ActorError, RivetError, UserError } from "../protocol/index.js";
export type { Encoding } from "../protocol/index.js";
export type {
  ActionRequest as ActorActionOptions,
  ActorAccessor,
  ActorHandle,
  AnyClient,
  Client,
  CreateOptions,
  ExtractActorsFromRegistry,
  GetOptions,
  GetOrCreateOptions,
  SendResult,
} from "../actor/client-types.js";
