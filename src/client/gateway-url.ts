import { ActorError, encodeTaggedCbor, formatBase64Url, formatJsonKey, parseActorId } from "../protocol/index.js";
import type { ResolvedConfig } from "./client-config.js";
import { ActorClientError } from "./errors.js";
import type { ActorTarget } from "./transport.js";

type UrlConfig = Pick<ResolvedConfig, "endpoint" | "namespace" | "poolName" | "skipReadyWait" | "maxInputSize">;

/**
 * The URL of one of an actor's routes. Keys travel in `rvt-key-json` alone, which no two keys share; tokens never do.
 * Throws `client/input_too_large` (use `create` then), `client/invalid_name`, `actor/invalid_id`.
 */
export function gatewayUrl(config: UrlConfig, target: ActorTarget, verb: "action" | "queue", name: string): string {
  const rest = `${verb}/${pathSegment(name, `The name of the ${verb}`)}`;
  if ("actorId" in target) {
    const query = config.skipReadyWait ? "?rvt-skip-ready-wait=true" : "";
    return `${actorUrl(config.endpoint, target.actorId)}/${rest}${query}`;
  }
  const query = new URLSearchParams(queryOf(config, target));
  return `${config.endpoint}/gateway/${pathSegment(target.name, "The name of the actor")}/${rest}?${query}`;
}

/** The URL below which the routes of the actor with this id lie. Throws `actor/invalid_id`. */
export function actorUrl(endpoint: string, actorId: string): string {
  if (parseActorId(actorId) === undefined) throw new ActorError("actor", "invalid_id", "This is not the id of an actor.");
  return `${endpoint}/gateway/${actorId}`;
}

function queryOf(config: UrlConfig, target: Exclude<ActorTarget, { actorId: string }>): Record<string, string> {
  const { key, mode, input, region } = target;
  return {
    "rvt-namespace": config.namespace,
    "rvt-method": mode,
    "rvt-key-json": formatJsonKey(key),
    ...(config.skipReadyWait && { "rvt-skip-ready-wait": "true" }),
    ...(mode === "getOrCreate" && config.poolName !== undefined && { "rvt-runner": config.poolName }),
    ...(mode === "getOrCreate" && region !== undefined && { "rvt-region": region }),
    ...(mode === "getOrCreate" && input !== undefined && { "rvt-input": formatInput(input, config.maxInputSize) }),
  };
}

function formatInput(input: unknown, maxBytes: number): string {
  const bytes = encodeTaggedCbor(input, { extended: true });
  if (bytes.length <= maxBytes) return formatBase64Url(bytes);
  const message = `createWithInput has ${bytes.length} bytes; a URL carries ${maxBytes}. Use create({ input }), or raise maxInputSize.`;
  throw new ActorClientError("input_too_large", message, { statusCode: 413, metadata: { sizeBytes: bytes.length, limitBytes: maxBytes } });
}

/** URLs resolve "." and ".." away, however they are encoded, and half a surrogate pair has no encoding. */
function pathSegment(text: string, what: string): string {
  try {
    if (text !== "." && text !== "..") return encodeURIComponent(text);
  } catch {
    // Falls through to the error below.
  }
  throw new ActorClientError("invalid_name", `${what}, ${JSON.stringify(text)}, cannot stand in a URL.`, { statusCode: 400 });
}
