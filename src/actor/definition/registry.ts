import { LOG_LEVELS, own, ActorError, checkActorName } from "../../protocol/index.js";
import type { LogSink, LogEntry } from "../ports.js";
import { compileActor, DEFAULT_MESSAGE_LIMITS, partsOf, type CompiledActor } from "./compiled-actor.js";
import type { DeclaredPart } from "./part-carrier.js";
import type { ActorDefinitions } from "../api/contexts.js";

/** The private data of a registry. */
interface Served {
  readonly actors: Map<string, CompiledActor>;
  fetch: ((request: Request, env?: unknown, ctx?: unknown) => Promise<Response>) | undefined;
  basePath: string;
}
// Not in private members: they would make registries of two copies of this package incompatible types.
const SERVED = new WeakMap<object, Served>();

function servedOf(registry: object): Served {
  const served = SERVED.get(registry);
  if (!served)
    throw new TypeError(
      "This registry comes from another copy of the package. Install it once: see `npm ls perdure rivetkit`",
    );
  return served;
}

/**
 * A set of actors, made by `setup()`. Nothing starts until a Worker serves it with `createHandler` from
 * `perdure/cloudflare`. The methods that start and stop servers in RivetKit do nothing; `serve`, `handler` and `routes`
 * use the last `createHandler(registry)`.
 */
export class Registry<D extends ActorDefinitions = ActorDefinitions> {
  readonly config: RegistryConfig<D>;
  /** Handlers of `/health` and `/metadata`, to mount elsewhere. `prometheusMetrics` rejects with `feature/unsupported`. */
  readonly routes: {
    health(request?: Request): Promise<Response>;
    metadata(request?: Request): Promise<Response>;
    prometheusMetrics(request?: Request): Promise<Response>;
  };

  constructor(given: RegistryConfig<D>) {
    const config = own(given);
    checkRegistryConfig(config);
    this.config = config;
    const served: Served = { actors: new Map(), fetch: undefined, basePath: "" };
    SERVED.set(this, served);
    const { incoming, outgoing } = DEFAULT_MESSAGE_LIMITS;
    const limits = {
      incoming: config.maxIncomingMessageSize ?? incoming,
      outgoing: config.maxOutgoingMessageSize ?? outgoing,
    };
    const knownParts: DeclaredPart[] = [];
    for (const [name, definition] of Object.entries(config.use)) {
      checkActorName(name);
      if (typeof definition?.config !== "object")
        throw new TypeError(`setup(): "${name}" is not an actor; make it with actor({…})`);
      served.actors.set(name, compileActor(name, definition, limits, knownParts));
      for (const { part } of partsOf(definition)) if (!knownParts.includes(part)) knownParts.push(part);
    }
    const route = (path: string) => (request?: Request) =>
      this.handler(new Request(new URL(`${served.basePath}${path}`, request?.url ?? "http://localhost").href));
    this.routes = {
      health: route("/health"),
      metadata: route("/metadata"),
      prometheusMetrics: () =>
        Promise.reject(new ActorError("feature", "unsupported", "There are no Prometheus metrics: use the platform's")),
    };
  }

  get actorNames(): string[] {
    return [...servedOf(this).actors.keys()];
  }

  /** Warnings to log once, when the registry is served. */
  get warnings(): LogEntry[] {
    const ofActors = [...servedOf(this).actors.values()].flatMap(({ name, idleOptions }) =>
      idleOptions.map((option) => ({
        msg: `The option "${option}" of the actor "${name}" has no effect here`,
        actor: name,
        option,
      })),
    );
    return [
      ...idleKeys(this.config).map((option) => ({
        msg: `The option "${option}" of setup() has no effect here`,
        option,
      })),
      ...ofActors,
    ];
  }

  /** @throws {actor/not_registered} when there is no actor of this name */
  find(name: string): CompiledActor {
    const found = servedOf(this).actors.get(name);
    if (!found) throw new ActorError("actor", "not_registered", `There is no actor named "${name}" in the registry`);
    return found;
  }

  /** For `createHandler`: sets how the registry answers requests, with its own routes below `basePath`. */
  servedBy(fetch: (request: Request, env?: unknown, ctx?: unknown) => Promise<Response>, basePath: string): void {
    Object.assign(servedOf(this), { fetch, basePath: basePath.replace(/\/+$/, "") });
  }

  /** Answers a request. @throws {feature/unsupported} when `createHandler(registry)` was not called */
  async handler(request: Request, env?: unknown, ctx?: unknown): Promise<Response> {
    const { fetch } = servedOf(this);
    if (fetch) return fetch(request, env, ctx);
    throw new ActorError(
      "feature",
      "unsupported",
      "This registry is not served yet: call createHandler(registry) from perdure/cloudflare and export its ActorObject",
    );
  }

  /**
   * A Worker's default export. Export the object class as well.
   *
   * @example
   *     export const { ActorObject } = createHandler(registry);
   *     export default registry.serve();
   */
  serve(): { fetch(request: Request, env?: unknown, ctx?: unknown): Promise<Response> } {
    return { fetch: (request, env, ctx) => this.handler(request, env, ctx) };
  }

  /** The configuration with its defaults. */
  parseConfig(): RegistryConfig<D> & {
    readonly maxIncomingMessageSize: number;
    readonly maxOutgoingMessageSize: number;
  } {
    const { incoming, outgoing } = DEFAULT_MESSAGE_LIMITS;
    return {
      ...this.config,
      maxIncomingMessageSize: this.config.maxIncomingMessageSize ?? incoming,
      maxOutgoingMessageSize: this.config.maxOutgoingMessageSize ?? outgoing,
    };
  }

  /** Does nothing, like the four methods below: the platform starts and stops what `createHandler` exports. */
  start(): void {}

  async startAndWait(): Promise<void> {}

  async startEnvoy(): Promise<void> {}

  async listen(_options?: {
    readonly port?: number;
    readonly host?: string;
    readonly [ignored: string]: unknown;
  }): Promise<void> {}

  async shutdown(): Promise<void> {}
}

/**
 * Collects actors under the names by which clients reach them.
 *
 * @throws {TypeError} when the configuration is invalid
 * @example
 *     export const registry = setup({ use: { counter, chatRoom } });
 */
export function setup<const D extends ActorDefinitions>(config: RegistryConfig<D>): Registry<D> {
  return new Registry(config);
}

/** The argument of `setup()`. RivetKit's options for its servers and engine are accepted and ignored (RIVET-2). */
export interface RegistryConfig<D extends ActorDefinitions> extends Readonly<Partial<Record<IdleKey, unknown>>> {
  /** Actor definitions by the names that clients use. */
  readonly use: D;
  /** Largest body of an action call and largest frame of a connection, in bytes (default 65,536, at most 32 MiB). */
  readonly maxIncomingMessageSize?: number;
  /** Largest result or event sent to a connection, in bytes (default 1,048,576, at most 32 MiB). */
  readonly maxOutgoingMessageSize?: number;
  /** Has no effect: nothing is printed at start. */
  readonly noWelcome?: boolean;
  readonly logging?: {
    /** Lowest level to log: trace, debug, info, warn, error, fatal or silent. `createHandler`'s `logLevel` takes precedence. */
    readonly level?: string;
    /**
     * Receives the log instead of the console: a pino logger, or an object with its six methods. Each is called with one
     * object that has `msg`.
     */
    readonly baseLogger?: unknown;
  };
  readonly serverless?: {
    /** Where the routes are mounted. `createHandler`'s `basePath` takes precedence. */
    readonly basePath?: string;
    readonly [ignored: string]: unknown;
  };
}

/** RivetKit's options for its servers and engine. Accepted with a warning, so that a registry can be moved unchanged. */
const IDLE_KEYS = [
  "configurePool",
  "endpoint",
  "enginePort",
  "engineHost",
  "engineVersion",
  "envoy",
  "headers",
  "httpBasePath",
  "httpHost",
  "httpPort",
  "namespace",
  "runtime",
  "serveManager",
  "shutdown",
  "sqlite",
  "startEngine",
  "staticDir",
  "test",
  "token",
  "wasm",
] as const;
type IdleKey = (typeof IDLE_KEYS)[number];
const KEYS: ReadonlySet<string> = new Set([
  ...IDLE_KEYS,
  "use",
  "maxIncomingMessageSize",
  "maxOutgoingMessageSize",
  "noWelcome",
  "logging",
  "serverless",
]);

const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

/** Checks the argument of `setup()`, except the actors in it. @throws {TypeError} when it is invalid */
export function checkRegistryConfig(config: RegistryConfig<ActorDefinitions>): void {
  if (typeof config?.use !== "object" || config.use === null)
    throw new TypeError("setup() takes { use: { name: actor({…}) } }");
  for (const key of Object.keys(config)) if (!KEYS.has(key)) throw new TypeError(`setup(): unknown key "${key}"`);
  for (const size of ["maxIncomingMessageSize", "maxOutgoingMessageSize"] as const) {
    const bytes: unknown = config[size];
    if (
      bytes === undefined ||
      (Number.isInteger(bytes) && (bytes as number) > 0 && (bytes as number) <= MAX_MESSAGE_BYTES)
    )
      continue;
    throw new TypeError(`setup(): "${size}" must be a whole number of bytes from 1 to ${MAX_MESSAGE_BYTES}`);
  }
  const { level, baseLogger } = section(config, "logging");
  if (level !== undefined && !["silent", ...LOG_LEVELS].includes(level as string))
    throw new TypeError(`setup(): "logging.level" must be one of ${LOG_LEVELS.join(", ")}, silent`);
  if (baseLogger !== undefined && !isLogger(baseLogger))
    throw new TypeError(`setup(): "logging.baseLogger" must have the methods ${LOG_LEVELS.join(", ")}`);
  const { basePath } = section(config, "serverless");
  if (basePath !== undefined && typeof basePath !== "string")
    throw new TypeError('setup(): "serverless.basePath" must be a string');
}

/** Names of given options that have no effect, for a warning. */
export function idleKeys(config: RegistryConfig<ActorDefinitions>): string[] {
  return IDLE_KEYS.filter((key) => Object.hasOwn(config, key) && config[key] !== undefined);
}

function section(config: object, name: "logging" | "serverless"): Readonly<Record<string, unknown>> {
  const value: unknown =
    (Object.hasOwn(config, name) ? (config as Readonly<Record<string, unknown>>)[name] : undefined) ?? {};
  if (typeof value !== "object") throw new TypeError(`setup(): "${name}" must be an object`);
  return own(value as Readonly<Record<string, unknown>>);
}

function isLogger(value: unknown): value is LogSink {
  return (
    typeof value === "object" &&
    value !== null &&
    LOG_LEVELS.every((level) => typeof (value as Record<string, unknown>)[level] === "function")
  );
}
