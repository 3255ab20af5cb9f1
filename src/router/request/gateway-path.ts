import { ActorError } from "../../protocol/index.js";

/** `/gateway/{actor}[@{token}]/{rest}`, taken apart. */
export interface GatewayPath {
  /** An actor's name or id, decoded. */
  readonly actor: string;
  /** What to do, and what with: "action" and its name, undecoded; both may be empty. */
  readonly verb: string;
  readonly argument: string | undefined;
}

/** Reads the path below `/gateway/`, as it stands in the URL. Throws `guard/query_invalid_params` (400). */
export function parseGatewayPath(path: string): GatewayPath {
  const [segment = "", verb = "", ...rest] = path.split("/");
  // An "@" of the name itself is percent-encoded. No route of the gateway asks for the token.
  const [name = ""] = segment.split("@");
  const actor = decodeSegment(name);
  if (actor === undefined)
    throw new ActorError("guard", "query_invalid_params", "The actor in the path is not percent-encoded UTF-8.");
  return { actor, verb, argument: rest.length === 0 ? undefined : rest.join("/") };
}

/** The name in one segment of a path; `undefined` if it is more than one or wrongly encoded. */
export function decodeSegment(segment: string): string | undefined {
  if (segment.includes("/")) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** A path that may stand in a log, or be shown to an actor: without the gateway's token. */
export function redactPath(path: string): string {
  return path.replace(/(\/gateway\/[^/@]*)@[^/]*/, "$1");
}
