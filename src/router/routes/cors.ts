import { ActorError } from "../../protocol/index.js";
import { isNear, pageOrigin } from "./page-origin.js";

/**
 * Pages of which other origins may call. By default none: only pages of the server's own origin, and in development pages of
 * the same machine (`localhost`, `127.0.0.1`) or of the same private address, on any port. Requests that no page makes (other
 * servers, native apps, curl) have no origin and are not concerned.
 */
export interface CorsOptions {
  /**
   * Origins as browsers write them: `["https://app.example.com"]`; also `"null"`, `"capacitor://localhost"`. A function is
   * asked with an origin and gives true for those that may, for preview URLs, say. `"*"`: any; what the browser adds by itself
   * (cookies, Basic authorization, the identity of Cloudflare Access) is then removed from requests of foreign pages, so that
   * none acts in the name of whoever looks at it.
   */
  readonly origins?: "*" | readonly string[] | ((origin: string) => boolean);
}

export interface CorsLog {
  warn(entry: Readonly<Record<string, unknown>>): void;
}

const METHODS = "GET, POST, PUT, DELETE, OPTIONS, PATCH";
const MAX_AGE_SECONDS = "86400";
/** Origins whose refusal is logged; a stranger can make up any number. */
const MAX_LOGGED = 100;
const MAX_SHOWN_LENGTH = 200;
/** Credentials that a browser or an access gateway adds by itself. */
const AMBIENT_SCHEME = /^\s*(?:basic|digest|negotiate|ntlm)\b/i;

/** What is to become of a request for where it comes from. */
export type Admission =
  /** `origin`: of the page; undefined for none. `foreign`: it may call since all may, and only as nobody. */
  | { readonly allowed: true; readonly origin: string | undefined; readonly foreign: boolean }
  | { readonly allowed: false; readonly origin: string };

/** Cross-origin rules. An allowed origin is named in the answer; "*" never goes together with credentials. */
export class Cors {
  readonly #origins: NonNullable<CorsOptions["origins"]>;
  readonly #log: CorsLog | undefined;
  readonly #logged = new Set<string>();

  /** @throws TypeError that names what is wrong with the options */
  constructor(options: CorsOptions = {}, log?: CorsLog) {
    checkOptions(options);
    this.#origins = options.origins ?? [];
    this.#log = log;
  }

  /** Decides once for a request. What a function of the user's throws is logged, and is a refusal. */
  admit(request: Request): Admission {
    const origin = pageOrigin(request);
    if (origin === undefined || isNear(origin, new URL(request.url))) return { allowed: true, origin, foreign: false };
    if (this.#origins === "*") return { allowed: true, origin, foreign: true };
    if (this.#lists(origin)) return { allowed: true, origin, foreign: false };
    this.#tellRefused(origin, request);
    return { allowed: false, origin };
  }

  /** The request without what its page did not send itself. */
  static asNobody(request: Request): Request {
    const headers = new Headers(request.headers);
    headers.delete("cookie");
    if (AMBIENT_SCHEME.test(headers.get("authorization") ?? "")) headers.delete("authorization");
    const added = [...headers.keys()].filter((name) => name.startsWith("cf-access-"));
    for (const name of added) headers.delete(name);
    return new Request(request, { headers });
  }

  /** The answer to OPTIONS. A page that is refused may ask, and read in the answer to its request why. */
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
    // With credentials a "*" here would be a header of that name.
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
      // A promise is no answer.
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

  #tellRefused(origin: string, request: Request): void {
    const name = shown(origin);
    if (this.#logged.size >= MAX_LOGGED || this.#logged.has(name)) return;
    this.#logged.add(name);
    this.#log?.warn({
      msg: "A page of another origin was refused. To let it call: createHandler(registry, { cors: { origins: [it] } })",
      origin: name,
      server: new URL(request.url).origin,
    });
  }
}

/** Why a page may not call, `auth/origin_not_allowed`, 403: it says which option opens the server. */
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

/** Whether a browser may send it: with no path, in lower case, without the scheme's own port. */
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
