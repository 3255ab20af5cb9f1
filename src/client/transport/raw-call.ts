import { ActorError } from "../../protocol/page.js";

/** The arguments of a handle's `fetch`: a path below the actor, and `fetch` options. */
export interface RawCall {
  /** Path and query, URL-encoded, with a leading slash. */
  readonly path: string;
  readonly init: RequestInit;
}

/**
 * Reads the arguments of `handle.fetch`. Of a URL and a Request only path and query are used, since the handle names
 * the actor. A Request may also be given as `init`; its body is streamed.
 *
 * @throws {request/invalid} when the input is not a path, a URL or a Request
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

/** A Request's members are on its prototype, where a spread does not find them. */
function initOf({ method, headers, body, redirect, signal }: Request): RequestInit {
  return { method, headers, redirect, signal, ...(body && { body }) };
}

/** Some runtimes require `duplex` for a body that is a stream. */
function streamed(init: RequestInit): RequestInit {
  return init.body instanceof ReadableStream ? ({ duplex: "half", ...init } as RequestInit) : init;
}

function pathOf(text: string): string {
  let url: URL;
  try {
    // Below a root of its own, so that ".." cannot leave it.
    url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `./${text.replace(/^\/+/, "")}`, "http://actor/");
  } catch {
    throw invalid();
  }
  return url.pathname + url.search;
}

function invalid(): ActorError {
  return new ActorError("request", "invalid", "fetch() of a handle takes a path, a URL or a Request.");
}
