import { ActorError } from "../../protocol/index.js";
import { forwardedRequest } from "../request/forwarded-request.js";
import type { ActorAccess } from "../objects/actor-access.js";
import type { GatewayRequest } from "./gateway-request.js";
import { isUpgrade, readSocketOpening, upgradedResponse } from "../request/socket-opening.js";

/**
 * `…/connect`: a WebSocket of the connection protocol. With `rawPath`, `…/websocket/{rawPath}`: one for the actor's
 * `onWebSocket`. Throws the caller's mistakes, and the errors of the actor's hooks; the router sends them through a
 * socket.
 */
export async function serveConnect(
  { request, userQuery, target }: Omit<GatewayRequest, "argument">,
  { openSocket }: ActorAccess,
  rawPath?: string,
): Promise<Response> {
  if (!isUpgrade(request))
    throw new ActorError("actor", "invalid_request", "This route takes WebSocket upgrades only.");
  const { encoding, extended, pings, params } = readSocketOpening(request.headers);
  const forwarded = forwardedRequest(request, userQuery);
  const webSocket = await openSocket({
    target,
    operation: { kind: "connect", encoding, extended, ...(rawPath === undefined ? pings && { pings } : { raw: true }) },
    ...(params !== undefined && { params }),
    request: rawPath === undefined ? forwarded : { ...forwarded, url: rawUrl(forwarded.url, rawPath) },
  });
  return upgradedResponse(webSocket, request.headers);
}

/** The actor sees the path its client asked for, below /websocket. */
function rawUrl(url: string, path: string): string {
  const { origin, search } = new URL(url);
  return `${origin}/websocket${path === "" ? "" : `/${path}`}${search}`;
}
