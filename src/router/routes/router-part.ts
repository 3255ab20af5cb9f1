import type { SocketPlatform } from "../request/socket-opening.js";
import type { ActorNamespace } from "../objects/object-namespace.js";

/** A request below a part's path. */
export interface PartRequest {
  readonly request: Request;
  readonly url: URL;
  /** The undecoded path below the part's, with a leading slash, or "". */
  readonly rest: string;
  /** The path of the part as callers write it, with the base path. */
  readonly mountPath: string;
  readonly objects: ActorNamespace;
  readonly env: unknown;
  readonly actorNames: ReadonlySet<string>;
  readonly sockets: SocketPlatform;
}

/**
 * Routes of an optional capability, which a Worker has only if it imports it. All that lies below its path is its own, who may
 * use it included: neither `cors` nor `authorize` of the router is asked.
 */
export interface RouterPart {
  /** Below the base path, with a leading slash. */
  readonly path: string;
  /** Answers a request. What it throws is the answer. */
  serve(asked: PartRequest): Promise<Response>;
}
