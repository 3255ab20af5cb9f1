import { parseSubprotocols, type CallEnvelope } from "../protocol/index.js";
import { redactPath } from "./gateway-path.js";

/** Ours, not the actor's: credentials of the deployment, and what travels in the envelope as itself. */
const OWN_HEADERS = new Set(["x-rivet-token", "x-rivet-conn-params", "x-rivet-encoding", "x-perdure-json", "x-perdure-envelope"]);

/** The request as the actor may see it: without our parameters, tokens and headers. The user's own headers stay. */
export function forwardedRequest(request: Request, userQuery: string): NonNullable<CallEnvelope["request"]> {
  const url = new URL(request.url);
  const query = userQuery === "" ? "" : `?${userQuery}`;
  return {
    method: request.method,
    url: url.origin + redactPath(url.pathname) + query,
    headers: [...request.headers].filter(([name]) => !OWN_HEADERS.has(name)).flatMap(withoutOwnProtocols),
  };
}

function withoutOwnProtocols([name, value]: [string, string]): [string, string][] {
  if (name !== "sec-websocket-protocol") return [[name, value]];
  // Ours carry params and tokens.
  const { others = [] } = parseSubprotocols(value);
  return others.length === 0 ? [] : [[name, others.join(", ")]];
}
