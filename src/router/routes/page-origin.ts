/** The origin of the page that makes a request, and whether it is the server's own. */

/**
 * The origin of the page that makes a request, or "null" if the page hides it. Undefined: no page makes it, or the user
 * follows a link. Embedded resources carry no Origin, so their referrer is used.
 */
export function pageOrigin({ headers }: Request): string | undefined {
  const origin = headers.get("origin");
  if (origin !== null) return origin;
  const site = headers.get("sec-fetch-site");
  if (site !== "cross-site" && site !== "same-site") return undefined;
  if (headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document") return undefined;
  const referrer = headers.get("referer");
  return (referrer !== null && urlOf(referrer)?.origin) || "null";
}

/**
 * Whether a page is trusted without an option: it is at the server's own origin (or its https form, behind a tunnel
 * that terminates TLS), both are on this machine, or both are at one literal private address.
 */
export function isNear(origin: string, server: URL): boolean {
  if (origin === server.origin) return true;
  const page = urlOf(origin);
  // Only the form a browser writes: "http://a/" is not an origin.
  if (page === undefined || page.origin !== origin) return false;
  if (page.protocol === "https:" && server.protocol === "http:" && page.host === server.host) return true;
  if (isLoopback(page.hostname)) return isLoopback(server.hostname);
  return page.hostname === server.hostname && isPrivateAddress(page.hostname);
}

/**
 * Whether a request can come from a page of another origin, whatever `cors` says: another port of this machine is another
 * origin, and its requests carry the strict cookies of this one.
 */
export function isForeign({ headers }: Request, server: URL): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return true;
  const origin = headers.get("origin");
  if (origin === null || origin === server.origin) return false;
  // A tunnel ends TLS: the page's origin is the https form of the server's.
  return origin !== `https://${server.host}` || server.protocol !== "http:";
}

/** Matches 127.0.0.0/8, [::1], localhost and its subdomains, as `URL` normalizes them. */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127(?:\.\d{1,3}){3}$/.test(hostname)
  );
}

/** Matches RFC 1918, link-local and unique local addresses. */
function isPrivateAddress(hostname: string): boolean {
  if (hostname.startsWith("[")) return /^\[(?:f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]):/.test(hostname);
  return /^(?:10\.\d+|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01]))\.\d+\.\d+$/.test(hostname);
}

function urlOf(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
