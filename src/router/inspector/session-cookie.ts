import { formatBase64Url } from "../../protocol/index.js";
import { isSameText } from "../request/access-token.js";

const NAME = "perdure_inspector";
const LIFETIME_SECONDS = 12 * 3_600;

/** Where the cookie is sent, and over what. */
export interface CookieScope {
  readonly path: string;
  readonly isSecure: boolean;
}

/**
 * The cookie for which a page exchanges the token once: the time it ends, and a MAC of that under the token. It ends with the
 * token, which cannot be learned from it.
 */
export async function sessionCookie(token: string, nowMs: number, scope: CookieScope): Promise<string> {
  const endsAt = String(nowMs + LIFETIME_SECONDS * 1000);
  return cookie(`${endsAt}.${await macOf(token, endsAt)}`, LIFETIME_SECONDS, scope);
}

/** Ends the session of the browser. */
export function endedCookie(scope: CookieScope): string {
  return cookie("", 0, scope);
}

/** Whether a request brings a cookie that was given for this token and has not ended. */
export async function hasSession({ headers }: Request, token: string, nowMs: number): Promise<boolean> {
  for (const pair of (headers.get("cookie") ?? "").split(";")) {
    const [, endsAt, mac] = /^\s*perdure_inspector=(\d{1,15})\.([\w-]{1,100})\s*$/.exec(pair) ?? [];
    if (endsAt === undefined || mac === undefined || Number(endsAt) <= nowMs) continue;
    if (isSameText(mac, await macOf(token, endsAt))) return true;
  }
  return false;
}

function cookie(value: string, maxAgeSeconds: number, { path, isSecure }: CookieScope): string {
  const secure = isSecure ? "; Secure" : "";
  return `${NAME}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
}

async function macOf(token: string, endsAt: string): Promise<string> {
  const utf8 = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", utf8.encode(token), algorithm, false, ["sign"]);
  return formatBase64Url(new Uint8Array(await crypto.subtle.sign("HMAC", key, utf8.encode(`perdure ${endsAt}`))));
}
