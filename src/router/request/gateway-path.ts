import { ActorError } from "../../protocol/index.js";

/** The parts of `/gateway/{actor}[@{token}]/{rest}`. */
export interface GatewayPath {
  /** An actor's name or id, decoded. */
  readonly actor: string;
  /** The verb and its argument, such as "action" and an action's name, undecoded. Both may be empty. */
  readonly verb: string;
  readonly argument: string | undefined;
}

/**
 * Reads the undecoded path below `/gateway/`.
 *
 * @throws {guard/query_invalid_params} when the actor is not percent-encoded UTF-8
 */
export function parseGatewayPath(path: string): GatewayPath {
  const [segment = "", verb = "", ...rest] = path.split("/");
  // An "@" in the name itself is percent-encoded. No route of the gateway uses the token.
  const [name = ""] = segment.split("@");
  const actor = decodeSegment(name);
  if (actor === undefined)
    throw new ActorError("guard", "query_invalid_params", "The actor in the path is not percent-encoded UTF-8.");
  return { actor, verb, argument: rest.length === 0 ? undefined : rest.join("/") };
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
