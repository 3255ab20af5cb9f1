import { ActorError, formatBase64Url, formatJsonKey, parseActorId, has, own } from "../../protocol/page.js";
import type { ResolvedConfig } from "../config/client-config.js";
import { ActorClientError } from "../config/errors.js";
import type { ActorTarget, SocketRoute } from "./transport.js";

/** The encoded input of a target that has one. */
type Input = Uint8Array | undefined;
type UrlConfig = Pick<ResolvedConfig, "endpoint" | "namespace" | "poolName" | "skipReadyWait" | "maxInputSize">;

/**
 * The URL of one of an actor's routes. The key is in `rvt-key-json`, which distinguishes all keys; tokens are never in
 * a URL.
 *
 * @throws {client/input_too_large} when the input does not fit in a URL: use `create` then
 * @throws {client/invalid_name} when a name cannot be part of a URL
 * @throws {actor/invalid_id} when the id is not an actor's
 */
export function gatewayUrl(
  config: UrlConfig,
  target: ActorTarget,
  verb: "action" | "queue",
  name: string,
  input: Input,
): string {
  return routeUrl(config, target, `${verb}/${pathSegment(name, `The name of the ${verb}`)}`, "", input);
}

/** The URL of a raw request: path and query are the user's. Throws the errors of `gatewayUrl`. */
export function requestUrl(config: UrlConfig, target: ActorTarget, path: string, input: Input): string {
  const [pathname = "", ...query] = path.split("?");
  return routeUrl(config, target, `request${pathname}`, query.join("?"), input);
}

/**
 * The `ws` URL of a socket: the actor's connection, or a raw one with the user's path and query. Throws the errors of
 * `gatewayUrl`.
 */
export function socketUrl(config: UrlConfig, target: ActorTarget, route: SocketRoute, input: Input): string {
  if (route.kind === "connect") return webSocketScheme(routeUrl(config, target, "connect", "", input));
  const { pathname, search } = rawPath(route.path);
  return webSocketScheme(routeUrl(config, target, `websocket${pathname}`, search.slice(1), input));
}

/** A user's path and query, resolved below a root of their own, so that ".." cannot leave it. */
export function rawPath(path: string): { pathname: string; search: string } {
  return new URL(`./${path.replace(/^\/+/, "")}`, "http://actor/");
}

function routeUrl(config: UrlConfig, target: ActorTarget, rest: string, userQuery: string, input: Input): string {
  const queries = [userQuery, String(new URLSearchParams(queryOf(config, target, input)))].filter(
    (query) => query !== "",
  );
  const base = has(target, "actorId")
    ? actorUrl(config.endpoint, target.actorId)
    : `${config.endpoint}/gateway/${pathSegment(target.name, "The name of the actor")}`;
  return `${base}/${rest}${queries.length === 0 ? "" : `?${queries.join("&")}`}`;
}

function webSocketScheme(url: string): string {
  return url.replace(/^http/, "ws");
}

/**
 * The base URL of the routes of an actor.
 *
 * @throws {actor/invalid_id} when the id is not an actor's
 */
export function actorUrl(endpoint: string, actorId: string): string {
  if (parseActorId(actorId) === undefined)
    throw new ActorError("actor", "invalid_id", "This is not the id of an actor.");
  return `${endpoint}/gateway/${actorId}`;
}

function queryOf(config: UrlConfig, target: ActorTarget, input: Input): Record<string, string> {
  const skipReadyWait = config.skipReadyWait && { "rvt-skip-ready-wait": "true" };
  if (has(target, "actorId")) return { ...skipReadyWait };
  const { key, mode, region } = own(target);
  return {
    "rvt-namespace": config.namespace,
    "rvt-method": mode,
    "rvt-key-json": formatJsonKey(key),
    ...skipReadyWait,
    ...(mode === "getOrCreate" && config.poolName !== undefined && { "rvt-runner": config.poolName }),
    ...(mode === "getOrCreate" && region !== undefined && { "rvt-region": region }),
    ...(mode === "getOrCreate" && input !== undefined && { "rvt-input": formatInput(input, config.maxInputSize) }),
  };
}

function formatInput(bytes: Uint8Array, maxBytes: number): string {
  if (bytes.length <= maxBytes) return formatBase64Url(bytes);
  const message = `createWithInput has ${bytes.length} bytes; a URL carries ${maxBytes}. Use create({ input }), or raise maxInputSize.`;
  throw new ActorClientError("input_too_large", message, {
    metadata: { sizeBytes: bytes.length, limitBytes: maxBytes },
  });
}

/** URLs resolve "." and ".." away in any encoding, and half a surrogate pair has no encoding. */
function pathSegment(text: string, what: string): string {
  try {
    if (text !== "." && text !== "..") return encodeURIComponent(text);
  } catch {
    // Falls through to the error below.
  }
  throw new ActorClientError("invalid_name", `${what}, ${JSON.stringify(text)}, cannot stand in a URL.`);
}
