/** Which other origins' pages may call. */
export interface CorsOptions {
  /** Any by default. A list, or a function of the origin, also refuses requests (403) that a page elsewhere makes. */
  readonly origins?: "*" | readonly string[] | ((origin: string) => boolean);
}

const METHODS = "GET, POST, PUT, DELETE, OPTIONS, PATCH";
const MAX_AGE_SECONDS = "86400";

/** Cross-origin rules. An allowed origin is named in the answer; "*" never goes together with credentials. */
export class Cors {
  readonly #origins: NonNullable<CorsOptions["origins"]>;

  constructor(options: CorsOptions = {}) {
    this.#origins = options.origins ?? "*";
  }

  /** Whether the request comes from a page that may call, from our own origin, or from no page at all. */
  isAllowed(request: Request): boolean {
    const origin = request.headers.get("origin");
    return origin === null || origin === new URL(request.url).origin || this.#allows(origin);
  }

  /** The answer to OPTIONS. */
  preflight(request: Request): Response {
    const response = new Response(null, { status: 204 });
    const { headers } = response;
    this.decorate(request, response);
    if (!this.isAllowed(request)) return response;
    headers.set("access-control-allow-methods", METHODS);
    headers.set("access-control-max-age", MAX_AGE_SECONDS);
    const wanted = request.headers.get("access-control-request-headers");
    if (wanted !== null) headers.set("access-control-allow-headers", wanted);
    headers.append("vary", "Access-Control-Request-Headers");
    return response;
  }

  /** Adds the headers that let the caller's page read the response. */
  decorate(request: Request, response: Response): void {
    const { headers } = response;
    const origin = request.headers.get("origin");
    // With credentials a "*" here would be a header of that name.
    const exposed = [...headers.keys()].join(", ");
    headers.append("vary", "Origin");
    if (origin === null) {
      headers.set("access-control-allow-origin", "*");
      headers.set("access-control-expose-headers", "*");
    } else if (this.isAllowed(request)) {
      headers.set("access-control-allow-origin", origin);
      headers.set("access-control-allow-credentials", "true");
      if (exposed !== "") headers.set("access-control-expose-headers", exposed);
    }
  }

  #allows(origin: string): boolean {
    if (this.#origins === "*") return true;
    return typeof this.#origins === "function" ? this.#origins(origin) : this.#origins.includes(origin);
  }
}
