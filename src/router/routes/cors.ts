import { ActorError } from "../../protocol/index.js";
import { isNear, pageOrigin } from "./page-origin.js";

/**
 * The other origins whose pages may call. Default: none. Only pages of the server's own origin may call, and in
 * development pages of the same machine (`localhost`, `127.0.0.1`) or the same private address, on any port. Requests
 * that no page makes (other servers, native apps, curl) have no origin and are always allowed.
 *
 * @example
 *     createHandler(registry, { cors: { origins: ["https://app.example.com"] } });
 */
export interface CorsOptions {
  /**
   * Origins as browsers write them: `["https://app.example.com"]`, but also `"null"` and `"capacitor://localhost"`; or
   * a function that returns true for allowed origins (preview URLs). `"*"` allows any; credentials the browser adds by
   * itself (cookies, Basic authorization, the identity of Cloudflare Access) are then removed from requests of foreign
   * pages, so that no page acts as its visitor.
   */
  readonly origins?: "*" | readonly string[] | ((origin: string) => boolean);
}

export interface CorsLog {
  warn(entry: Readonly<Record<string, unknown>>): void;
}

const METHODS = "GET, POST, PUT, DELETE, OPTIONS, PATCH";
const MAX_AGE_SECONDS = "86400";
/** How many refused origins are logged; a stranger can invent any number. */
const MAX_LOGGED = 100;
const MAX_SHOWN_LENGTH = 200;
/** Credentials that a browser or an access gateway adds by itself. */
const AMBIENT_SCHEME = /^\s*(?:basic|digest|negotiate|ntlm)\b/i;

/** Whether a request's origin may call. */
export type Admission =
  /**
   * `origin`: the page's, undefined without a page. `foreign`: allowed only by "*", without its visitor's credentials.
   */
  | { readonly allowed: true; readonly origin: string | undefined; readonly foreign: boolean }
  | { readonly allowed: false; readonly origin: string };

/** Cross-origin rules. The answer names an allowed origin; "*" never allows credentials. */
export class Cors {
  readonly #origins: NonNullable<CorsOptions["origins"]>;
  readonly #log: CorsLog | undefined;
  readonly #logged = new Set<string>();

  /** @throws TypeError when an option is not valid */
  constructor(options: CorsOptions = {}, log?: CorsLog) {
    checkOptions(options);
    this.#origins = options.origins ?? [];
    this.#log = log;
  }

  /** Decides once per request. An error of the user's function is logged, and refuses. */
  admit(request: Request, url: URL): Admission {
    const origin = pageOrigin(request);
    if (origin === undefined || isNear(origin, url)) return { allowed: true, origin, foreign: false };
    if (this.#origins === "*") return { allowed: true, origin, foreign: true };
    if (this.#lists(origin)) return { allowed: true, origin, foreign: false };
    this.#tellRefused(origin, url);
    return { allowed: false, origin };
  }

  /** The request without the credentials its page did not send itself. */
  static asNobody(request: Request): Request {
    const headers = new Headers(request.headers);
    headers.delete("cookie");
    if (AMBIENT_SCHEME.test(headers.get("authorization") ?? "")) headers.delete("authorization");
    const added = [...headers.keys()].filter((name) => name.startsWith("cf-access-"));
    for (const name of added) headers.delete(name);
    return new Request(request, { headers });
  }

  /** The answer to OPTIONS. It also allows a refused page, which then reads the reason in the answer to its request. */
  static preflight(request: Request, admission: Admission): Response {
    const response = new Response(null, { status: 204 });
    const { headers } = response;
    Cors.decorate(response, admission);
    if (admission.origin === undefined) return response;
    headers.set("access-control-allow-methods", METHODS);
    headers.set("access-control-max-age", admission.allowed ? MAX_AGE_SECONDS : "0");
    const wanted = request.headers.get("access-control-request-headers");
    if (wanted !== null) headers.set("access-control-allow-headers", wanted);
    headers.append("vary", "Access-Control-Request-Headers");
    return response;
  }

  /** Adds the headers that let the caller's page read the response. */
  static decorate(response: Response, { origin, allowed }: Admission): void {
    const { headers } = response;
    // With credentials, browsers read "*" as a header of that name.
    const exposed = [...headers.keys()].join(", ");
    headers.append("vary", "Origin");
    if (origin === undefined) return;
    headers.set("access-control-allow-origin", origin);
    if (!allowed) return;
    headers.set("access-control-allow-credentials", "true");
    if (exposed !== "") headers.set("access-control-expose-headers", exposed);
  }

  #lists(origin: string): boolean {
    const origins = this.#origins;
    if (typeof origins !== "function") return origins.includes(origin);
    try {
      // A promise would count as true.
      return origins(origin) === true;
    } catch (error) {
      this.#log?.warn({
        msg: "The function cors.origins of createHandler threw; the page is refused",
        origin: shown(origin),
        error,
      });
      return false;
    }
  }

  #tellRefused(origin: string, server: URL): void {
    const name = shown(origin);
    if (this.#logged.size >= MAX_LOGGED || this.#logged.has(name)) return;
    this.#logged.add(name);
    this.#log?.warn({
      msg: "A page of another origin was refused. To let it call: createHandler(registry, { cors: { origins: [it] } })",
      origin: name,
      server: server.origin,
    });
  }
}

/** The refusal of a page, `auth/origin_not_allowed` (403). It names the option that allows the origin. */
export function originNotAllowed(origin: string): ActorError {
  const message =
    `Pages of the origin ${shown(origin)} may not call this server. The server's own code opens it: ` +
    `createHandler(registry, { cors: { origins: [${JSON.stringify(shown(origin))}] } }).`;
  return new ActorError("auth", "origin_not_allowed", message, {
    metadata: { origin: shown(origin), option: "cors.origins" },
  });
}

function shown(origin: string): string {
  return origin.length > MAX_SHOWN_LENGTH ? `${origin.slice(0, MAX_SHOWN_LENGTH)}…` : origin;
}

function checkOptions(options: unknown): asserts options is CorsOptions {
  if (typeof options !== "object" || options === null)
    throw new TypeError("createHandler(): cors must be an object: { origins }");
  for (const key of Object.keys(options))
    if (key !== "origins") throw new TypeError(`createHandler(): cors: unknown key "${key}"`);
  const { origins } = options as { readonly origins?: unknown };
  if (origins === undefined || origins === "*" || typeof origins === "function") return;
  if (!Array.isArray(origins))
    throw new TypeError('createHandler(): cors.origins must be "*", an array of origins, or a function');
  for (const origin of origins) {
    if (isOrigin(origin)) continue;
    const problem =
      typeof origin === "string" && origin.includes("*")
        ? "a pattern is a function: (origin) => boolean"
        : 'an origin is scheme, host and port, as in "https://app.example.com"';
    throw new TypeError(
      `createHandler(): cors.origins has ${JSON.stringify(origin)}, which no browser sends: ${problem}`,
    );
  }
}

/** Whether a browser would write it: without a path, in lower case, without the scheme's default port. */
function isOrigin(text: unknown): boolean {
  if (typeof text !== "string" || text.includes("*")) return false;
  if (text === "null") return true;
  try {
    const { origin } = new URL(text);
    return origin === "null" ? /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*$/.test(text) : origin === text;
  } catch {
    return false;
  }
}
