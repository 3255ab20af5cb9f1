import type { SocketPlatform } from "../request/socket-opening.js";
import type { ActorNamespace } from "../objects/object-namespace.js";

/** A request to one of a part's paths. */
export interface PartRequest {
  readonly request: Request;
  readonly url: URL;
  /** The undecoded path below the base path. */
  readonly path: string;
  /** "" for the root; otherwise with a leading slash and no trailing one. */
  readonly basePath: string;
  /** The only namespace callers may name; undefined: any. */
  readonly namespace: string | undefined;
  readonly objects: ActorNamespace;
  readonly env: unknown;
  readonly actorNames: ReadonlySet<string>;
  readonly sockets: SocketPlatform;
}

/**
 * Routes of an optional capability, which a Worker has only if it imports it. Its paths are its own, who may use them included:
 * neither `cors` nor `authorize` of the router is asked.
 */
export interface RouterPart {
  /** Whether a path below the base path is one of the part's. */
  owns(path: string): boolean;
  /** Answers a request. What it throws is the answer. */
  readonly serve: (asked: PartRequest) => Promise<Response>;
}
