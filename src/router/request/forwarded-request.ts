import { ENVELOPE_HEADER, parseSubprotocols, type CallEnvelope } from "../../protocol/index.js";
import { redactPath } from "./gateway-path.js";

/** Headers the actor does not see: the deployment's credentials, and those whose values are in the envelope. */
const OWN_HEADERS = new Set([
  "x-rivet-token",
  "x-rivet-conn-params",
  "x-rivet-encoding",
  "x-rivet-target",
  "x-rivet-actor",
  "x-rivet-namespace",
  "x-rivet-skip-ready-wait",
  "x-rivet-internal-original-request-url",
  "x-perdure-json",
  ENVELOPE_HEADER,
]);

/** The request as the actor sees it: without our parameters, tokens and headers. The user's headers stay. */
export function forwardedRequest(request: Request, url: URL, userQuery: string): NonNullable<CallEnvelope["request"]> {
  return actorRequest(request, url, redactPath(url.pathname), userQuery);
}

/** The request as the actor sees it, with another path and query. */
export function actorRequest(
  request: Request,
  { origin }: URL,
  path: string,
  query: string,
): NonNullable<CallEnvelope["request"]> {
  return {
    method: request.method,
    url: origin + path + (query === "" ? "" : `?${query}`),
    headers: withoutOwnHeaders(request.headers),
  };
}

/** Removes our headers, also from a request that code inside the Worker forwards. */
export function withoutOwnHeaders(headers: Iterable<readonly [string, string]>): [string, string][] {
  return [...headers].filter(([name]) => !OWN_HEADERS.has(name.toLowerCase())).flatMap(withoutOwnProtocols);
}

function withoutOwnProtocols([name, value]: readonly [string, string]): [string, string][] {
  if (name !== "sec-websocket-protocol") return [[name, value]];
  // Our subprotocols carry params and tokens.
  const { others = [] } = parseSubprotocols(value);
  return others.length === 0 ? [] : [[name, others.join(", ")]];
}
