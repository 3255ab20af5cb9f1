import { isEncoding, readOptions, ownField, type Encoding } from "../../protocol/page.js";
import { ActorClientError } from "./errors.js";
import type { ClientSocketClass } from "./socket.js";

/**
 * A location hint of the platform, such as "weur"; "auto" and "default" let the platform choose. An unknown one is
 * `actor/invalid_region`.
 */
export type Region = string;

/** The part of `fetch` the client uses. */
export type ClientFetch = (url: string, init: RequestInit) => Promise<Response>;

/** Options of `createClient`. */
export interface ClientConfig {
  /**
   * The server's URL, optionally with namespace and token: `https://namespace:token@host/path`. Default: in a Worker
   * that serves a registry, its own actors over the binding; otherwise `PERDURE_ENDPOINT` or `RIVET_ENDPOINT` of
   * `process.env` (a Worker's variables included); otherwise "http://localhost:6420".
   */
  readonly endpoint?: string | URL;
  /** A token for `authorize`, sent as a header or subprotocol, never in a URL. */
  readonly token?: string;
  /** Default: "default". */
  readonly namespace?: string;
  /** Accepted, has no effect. */
  readonly poolName?: string;
  /**
   * The encoding of values. Default: "cbor", the smallest. All carry every kind of value; "json" is readable in a
   * browser.
   */
  readonly encoding?: Encoding;
  /** Headers of every request. Browsers send sockets without them. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly gateway?: { readonly skipReadyWait?: boolean };
  /** The most bytes of encoded input in a URL. Default: 4,096. */
  readonly maxInputSize?: number;
  /**
   * After how much silence an open connection pings the server, in ms, at least 1,000. Default: 30,000. If no answer
   * comes within 10 s, the connection reconnects. A ping does not wake an actor. `false` sends none; a server that
   * vanished is then noticed only when the system closes the socket.
   */
  readonly pingInterval?: number | false;
  /** Used instead of the global `fetch`. */
  readonly fetch?: ClientFetch;
  /** Used instead of the global `WebSocket`, which browsers, Workers, and Node from version 22 on have. */
  readonly webSocket?: ClientSocketClass;
  /** Accepted, has no effect: the server needs no lookup. */
  readonly disableMetadataLookup?: boolean;
  /** Accepted, has no effect. */
  readonly getUpgradeWebSocket?: unknown;
  /** Accepted, has no effect. */
  readonly devtools?: boolean;
}

/** A configuration with its defaults. */
export interface ResolvedConfig {
  /** Without credentials and trailing slash. */
  readonly endpoint: string;
  readonly namespace: string;
  readonly token: string | undefined;
  readonly poolName: string | undefined;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly encoding: Encoding;
  readonly skipReadyWait: boolean;
  readonly maxInputSize: number;
  /** Undefined: never. */
  readonly pingIntervalMs: number | undefined;
  readonly fetch: ClientFetch;
  readonly webSocket: () => ClientSocketClass | undefined;
}

const CONFIG_KEYS = [
  "endpoint",
  "token",
  "namespace",
  "poolName",
  "encoding",
  "headers",
  "gateway",
  "maxInputSize",
  "pingInterval",
  "fetch",
  "webSocket",
  "disableMetadataLookup",
  "getUpgradeWebSocket",
  "devtools",
] as const;
const DEFAULT_ENDPOINT = "http://localhost:6420";
const DEFAULT_NAMESPACE = "default";
const DEFAULT_MAX_INPUT_BYTES = 4096;
const DEFAULT_PING_INTERVAL_MS = 30_000;
const MIN_PING_INTERVAL_MS = 1_000;
/** The longest delay of a timer. */
const MAX_PING_INTERVAL_MS = 2 ** 31 - 1;

/**
 * Reads a configuration. No error message contains a secret.
 *
 * @throws {client/invalid_endpoint} when the endpoint cannot be used
 * @throws {client/invalid_encoding} when the encoding is unknown
 * @throws {client/invalid_ping_interval} when `pingInterval` is not a valid number of ms, or false
 * @throws {client/invalid_option} when an option is unknown or not valid
 */
export function resolveConfig(input: string | URL | ClientConfig | undefined): ResolvedConfig {
  const config: ClientConfig =
    typeof input === "string" || input instanceof URL
      ? { endpoint: input }
      : readOptions("createClient", input, CONFIG_KEYS, invalidOption);
  const { endpoint, namespace, token } = parseEndpoint(
    String(config.endpoint ?? endpointOfEnvironment() ?? DEFAULT_ENDPOINT),
  );
  if (namespace !== undefined && config.namespace !== undefined)
    throw invalidEndpoint("the namespace stands in it and in the configuration");
  if (token !== undefined && config.token !== undefined)
    throw invalidEndpoint("the token stands in it and in the configuration");
  const encoding: unknown = config.encoding ?? "cbor";
  if (!isEncoding(encoding)) throw new ActorClientError("invalid_encoding", "The encoding is json, cbor or bare.");
  const headers = Object.entries(config.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    endpoint,
    namespace: namespace ?? config.namespace ?? DEFAULT_NAMESPACE,
    token: token ?? config.token,
    poolName: config.poolName,
    headers: Object.fromEntries(headers),
    encoding,
    skipReadyWait: config.gateway?.skipReadyWait ?? false,
    maxInputSize: readMaxInputSize(config.maxInputSize),
    pingIntervalMs: readPingInterval(config.pingInterval),
    // The global `fetch` is looked up at each call, and called without `this`, as browsers require.
    fetch: config.fetch ?? ((url, init) => fetch(url, init)),
    webSocket: () => config.webSocket ?? (globalThis as { WebSocket?: ClientSocketClass }).WebSocket,
  };
}

const ENDPOINT_VARIABLES = ["PERDURE_ENDPOINT", "RIVET_ENDPOINT"] as const;

/** `process.env` exists in Node and in Workers with `nodejs_compat`, not in browsers. */
function endpointOfEnvironment(): string | undefined {
  const { process } = globalThis as { process?: { env?: Readonly<Record<string, unknown>> } };
  return ENDPOINT_VARIABLES.map((name) => process?.env && ownField(process.env, name)).find(
    (value) => typeof value === "string" && value !== "",
  ) as string | undefined;
}

function readMaxInputSize(bytes: number = DEFAULT_MAX_INPUT_BYTES): number {
  if (Number.isSafeInteger(bytes) && bytes >= 0) return bytes;
  throw invalidOption("The maxInputSize of createClient is a whole number of bytes");
}

function invalidOption(problem: string): ActorClientError {
  return new ActorClientError("invalid_option", `${problem}.`);
}

function readPingInterval(interval: number | false = DEFAULT_PING_INTERVAL_MS): number | undefined {
  if (interval === false) return undefined;
  if (typeof interval === "number" && interval >= MIN_PING_INTERVAL_MS && interval <= MAX_PING_INTERVAL_MS)
    return interval;
  throw new ActorClientError(
    "invalid_ping_interval",
    "The pingInterval is a number of milliseconds from 1,000 to 2,147,483,647, or false.",
  );
}

function parseEndpoint(text: string): { endpoint: string; namespace: string | undefined; token: string | undefined } {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw invalidEndpoint("it is not a URL");
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw invalidEndpoint("it does not begin with http:// or https://");
  if (url.search !== "" || url.hash !== "") throw invalidEndpoint("it has a query or a fragment");
  if (url.password !== "" && url.username === "") throw invalidEndpoint("a token in it needs a namespace before it");
  return {
    endpoint: url.origin + url.pathname.replace(/\/+$/, ""),
    namespace: decodeCredential(url.username),
    token: decodeCredential(url.password),
  };
}

function decodeCredential(text: string): string | undefined {
  try {
    return text === "" ? undefined : decodeURIComponent(text);
  } catch {
    throw invalidEndpoint("its namespace or token is not percent-encoded UTF-8");
  }
}

function invalidEndpoint(reason: string): ActorClientError {
  return new ActorClientError("invalid_endpoint", `The endpoint cannot be used: ${reason}.`);
}
