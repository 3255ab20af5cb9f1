import type { AnyRegistry, ClientFor } from "../../actor/api/client-types.js";
import { own } from "../../protocol/page.js";
import { resolveConfig, type ClientConfig } from "../config/client-config.js";
import { homeOr } from "../transport/home-transport.js";
import { createHttpTransport } from "../transport/http-transport.js";
import type { ActorTransport } from "../transport/transport.js";
import { createClientWithTransport } from "./client.js";

export type { ClientFor };

/**
 * Creates a client for the actors of a server. It sends nothing until the first call.
 *
 * Calls reject with an `ActorError`: the actor's own; `client/network_error` if no answer arrives (the call may have
 * run, so it is not repeated); or `client/malformed_response`.
 *
 * @example
 *     const client = createClient<typeof registry>("http://localhost:8787");
 *     const total = await client.counter.getOrCreate("main").increment(1);
 * @throws {client/invalid_endpoint} when the endpoint cannot be used
 * @throws {client/invalid_option} when an option is unknown or not valid
 */
export function createClient<R = AnyRegistry>(endpointOrConfig?: string | URL | ClientConfig): ClientFor<R> {
  const config =
    typeof endpointOrConfig === "string" || endpointOrConfig instanceof URL
      ? own<ClientConfig>({ endpoint: endpointOrConfig })
      : endpointOrConfig && own(endpointOrConfig);
  // Checked at once, even where the binding is used later.
  const resolved = resolveConfig(config);
  const overHttp = (): ActorTransport => createHttpTransport(resolved);
  return createClientWithTransport<R>(
    config?.endpoint === undefined && config?.fetch === undefined && config?.webSocket === undefined
      ? homeOr(overHttp)
      : overHttp(),
  );
}
