import { ActorError } from "../../protocol/index.js";

/** What `fetch` of a handle takes, as one thing: where below the actor, and the rest as `fetch` takes it. */
export interface RawCall {
  /** Path and query, as they stand in a URL; with a slash in front. */
  readonly path: string;
  readonly init: RequestInit;
}

/**
 * Reads the arguments of `handle.fetch`. Of a URL, and of a Request, only path and query count: the actor is where the
 * handle says. A Request's own body is sent as it comes; one may also be given as `init`. Throws `request/invalid` (400) on anything else.
 */
export function readRawCall(input: unknown, given: RequestInit | Request = {}): RawCall {
  const init = given instanceof Request ? initOf(given) : given;
  if (typeof input === "string") return { path: pathOf(input), init: streamed(init) };
  if (input instanceof URL) return { path: input.pathname + input.search, init: streamed(init) };
  if (!(input instanceof Request)) throw invalid();
  const { pathname, search } = new URL(input.url);
  const headers = new Headers(input.headers);
  new Headers(init.headers).forEach((value, name) => headers.set(name, value));
  return { path: pathname + search, init: streamed({ ...initOf(input), ...init, headers }) };
}

/** A Request has its parts on its prototype, where a spread does not find them. */
function initOf({ method, headers, body, redirect, signal }: Request): RequestInit {
  return { method, headers, redirect, signal, ...(body && { body }) };
}

/** Runtimes want to hear that a body is a stream. */
function streamed(init: RequestInit): RequestInit {
  return init.body instanceof ReadableStream ? ({ duplex: "half", ...init } as RequestInit) : init;
}

function pathOf(text: string): string {
  let url: URL;
  try {
    // A root of its own: ".." leads nowhere else.
    url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `./${text.replace(/^\/+/, "")}`, "http://actor/");
  } catch {
    throw invalid();
  }
  return url.pathname + url.search;
}

function invalid(): ActorError {
  return new ActorError("request", "invalid", "fetch() of a handle takes a path, a URL or a Request.");
}
