import { ActorError } from "../protocol/index.js";
import { forwardedRequest } from "./forwarded-request.js";
import type { ActorAccess, GatewayRequest } from "./gateway-request.js";
import { isUpgrade, readSocketOpening, upgradedResponse } from "./socket-opening.js";

/**
 * `…/connect`: a WebSocket that speaks the connection protocol. Throws what the caller did wrong, and what the actor's
 * hooks threw; the router tells it through a socket.
 */
export async function serveConnect({ request, userQuery, target }: Omit<GatewayRequest, "argument">, { openSocket }: ActorAccess): Promise<Response> {
  if (!isUpgrade(request)) throw new ActorError("actor", "invalid_request", "This route takes WebSocket upgrades only.");
  const { encoding, extended, params } = readSocketOpening(request.headers);
  const webSocket = await openSocket({
    target,
    operation: { kind: "connect", encoding, extended },
    ...(params !== undefined && { params }),
    request: forwardedRequest(request, userQuery),
  });
  return upgradedResponse(webSocket, request.headers);
}
