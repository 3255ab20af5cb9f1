import { ActorError } from "../../protocol/index.js";

/**
 * The actor's name or id in the first segment below `/gateway/`: `{actor}[@{token}]`, undecoded.
 *
 * @throws {guard/query_invalid_params} when it is not percent-encoded UTF-8
 */
export function gatewayActor(segment: string): string {
  // An "@" in the name itself is percent-encoded. No route of the gateway uses the token.
  const [name = ""] = segment.split("@", 1);
  const actor = decodeSegment(name);
  if (actor === undefined)
    throw new ActorError("guard", "query_invalid_params", "The actor in the path is not percent-encoded UTF-8.");
  return actor;
}

/** The decoded name in one path segment, or undefined if it is several segments or wrongly encoded. */
export function decodeSegment(segment: string): string | undefined {
  if (segment.includes("/")) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** The path without the gateway's token, safe for logs and actors. */
export function redactPath(path: string): string {
  return path.replace(/(\/gateway\/[^/@]*)@[^/]*/, "$1");
}
