/** Who may use the inspector, and for what (INSPECT-3). */
import { ActorError, own, readOptions } from "../../protocol/index.js";
import { bearerToken, isSameText } from "../request/access-token.js";
import { isForeign, isLoopback } from "../routes/page-origin.js";
import { hasSession } from "./session-cookie.js";

/** Someone who uses the inspector. */
export interface Operator {
  /** Who it is, for the audit: at most 200 characters. */
  readonly name: string;
  /** Whether it may change anything; otherwise it only looks. */
  readonly write: boolean;
}

/** Options of `inspector()`. */
export interface InspectorOptions<Env = unknown> {
  /** A secret that opens the inspector, to look and to act; or what takes it from the bindings. */
  readonly token?: string | ((env: Env) => string | undefined);
  /**
   * Says who an operator is, by whatever the request carries (the header of Cloudflare Access, say); null refuses. It is asked
   * for requests without the token. What it throws is the answer.
   */
  readonly authorize?: (request: Request, env: Env) => Operator | null | Promise<Operator | null>;
}

const MAX_NAME_LENGTH = 200;
const TOKEN_PROTOCOL = "rivet_inspector_token.";

export class Operators {
  readonly #token: InspectorOptions["token"];
  readonly #authorize: InspectorOptions["authorize"];

  /** @throws TypeError when an option is unknown or not valid */
  constructor(given: InspectorOptions | undefined) {
    const fail = (problem: string): TypeError => new TypeError(`inspector(): ${problem}`);
    const { token, authorize } = readOptions<InspectorOptions>("inspector", given, ["token", "authorize"], fail);
    if (token !== undefined && typeof token !== "function" && (typeof token !== "string" || token === ""))
      throw fail("token must be a string that is not empty, or a function");
    if (authorize !== undefined && typeof authorize !== "function") throw fail("authorize must be a function");
    this.#token = token;
    this.#authorize = authorize;
  }

  /** Whether only the machine itself is let in, since nothing says who else may be. */
  get isForLoopback(): boolean {
    return this.#token === undefined && this.#authorize === undefined;
  }

  /** Whether someone came with the token itself, for which there is a cookie. */
  static holdsToken(operator: Operator): boolean {
    return operator === HOLDER;
  }

  /** The token that opens the inspector; undefined if there is none, or the bindings lack it. */
  tokenOf(env: unknown): string | undefined {
    const token: unknown = typeof this.#token === "function" ? this.#token(env) : this.#token;
    return typeof token === "string" && token !== "" ? token : undefined;
  }

  /**
   * Who makes a request. `sessionAt`: the time, epoch ms, if a page's session counts; without it no cookie does, and a token may
   * come as a subprotocol.
   *
   * @throws {auth/origin_not_allowed} when a page of another origin does
   * @throws {inspector/unauthorized} when it is nobody who may
   */
  async identify(request: Request, url: URL, env: unknown, sessionAt: number | undefined): Promise<Operator> {
    if (isForeign(request, url))
      throw new ActorError("auth", "origin_not_allowed", "The inspector serves pages of its own origin only.");
    const token = this.tokenOf(env);
    const isPage = sessionAt !== undefined;
    const given = bearerToken(request.headers) ?? (isPage ? undefined : offeredToken(request.headers));
    // One that is wrong may be a credential of the application's own; no cookie makes up for it.
    if (given !== undefined && token !== undefined) {
      if (isSameText(given, token)) return HOLDER;
      if (this.#authorize === undefined) throw unauthorized();
    }
    if (isPage && given === undefined && token !== undefined && (await hasSession(request, token, sessionAt)))
      return HOLDER;
    const operator = this.#authorize && asOperator(await this.#authorize(copyOf(request, isPage), env));
    if (operator) return operator;
    if (this.isForLoopback && isFromThisMachine(request, url)) return LOCAL;
    throw unauthorized();
  }
}

const HOLDER: Operator = { name: "token", write: true };
const LOCAL: Operator = { name: "localhost", write: true };

/** What the application says; anything that is not an operator refuses. */
function asOperator(given: unknown): Operator | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const { name, write } = own(given as Partial<Operator>);
  return typeof name === "string" && name !== ""
    ? { name: name.slice(0, MAX_NAME_LENGTH), write: write === true }
    : undefined;
}

/** A service binding chooses its URL, so the name alone says nothing. */
function isFromThisMachine({ headers }: Request, { hostname }: URL): boolean {
  const ip = headers.get("cf-connecting-ip");
  return isLoopback(hostname) && ip !== null && (ip === "::1" || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/.test(ip));
}

/** RivetKit's subprotocol: a browser's socket has no headers. */
function offeredToken(headers: Headers): string | undefined {
  const offered = (headers.get("sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
  return offered.find((name) => name.startsWith(TOKEN_PROTOCOL))?.slice(TOKEN_PROTOCOL.length);
}

/** Without the body, which is not the application's, and the cookies of those routes that no page uses. */
function copyOf({ url, method, headers, signal }: Request, withCookies: boolean): Request {
  const copy = new Request(url, { method, headers, signal });
  if (!withCookies) copy.headers.delete("cookie");
  return copy;
}

function unauthorized(): ActorError {
  return new ActorError(
    "inspector",
    "unauthorized",
    "The inspector needs its token as Authorization: Bearer. inspector({ token }) or inspector({ authorize }) says who may.",
  );
}
