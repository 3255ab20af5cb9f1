import { LOG_LEVELS, own } from "../protocol/index.js";
import type { LogSink } from "./ports.js";
import type { ActorDefinitions } from "./types.js";

/** `setup`'s argument. What the peer configures for servers and engines of its own is accepted and ignored (decision 31). */
export interface RegistryConfig<D extends ActorDefinitions> extends Readonly<Partial<Record<IdleKey, unknown>>> {
  /** Actor definitions; their keys are the names by which clients reach them. */
  readonly use: D;
  /** Largest body of an action call, and largest frame of a connection, bytes; default 65,536, at most 32 MiB. */
  readonly maxIncomingMessageSize?: number;
  /** Largest result or event that a connection is sent, bytes; default 1,048,576, at most 32 MiB. */
  readonly maxOutgoingMessageSize?: number;
  /** Accepted, without effect: nothing is printed at start. */
  readonly noWelcome?: boolean;
  readonly logging?: {
    /** Lowest level that is logged: trace, debug, info, warn, error, fatal or silent. `createHandler`'s `logLevel` comes first. */
    readonly level?: string;
    /** Takes what is logged instead of the console: a pino logger, or anything with its six methods, each of which gets one object with `msg`. */
    readonly baseLogger?: unknown;
  };
  readonly serverless?: {
    /** Where our routes are mounted. `createHandler`'s `basePath` comes first. */
    readonly basePath?: string;
    readonly [ignored: string]: unknown;
  };
}

/** What RivetKit configures for its servers and engines. Accepted with a warning, so that a registry moves as it is. */
const IDLE_KEYS = [
  "configurePool", "endpoint", "enginePort", "engineHost", "engineVersion", "envoy", "headers", "httpBasePath", "httpHost", "httpPort", "namespace",
  "runtime", "shutdown", "sqlite", "startEngine", "staticDir", "test", "token", "wasm",
] as const;
type IdleKey = (typeof IDLE_KEYS)[number];
const KEYS: ReadonlySet<string> = new Set([...IDLE_KEYS, "use", "maxIncomingMessageSize", "maxOutgoingMessageSize", "noWelcome", "logging", "serverless"]);

const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

/** @throws TypeError that names what is wrong with the argument of `setup()`, but for the actors in it */
export function checkRegistryConfig(config: RegistryConfig<ActorDefinitions>): void {
  if (typeof config?.use !== "object" || config.use === null) throw new TypeError("setup() needs { use: { name: actor({…}) } }");
  for (const key of Object.keys(config)) if (!KEYS.has(key)) throw new TypeError(`setup(): unknown key "${key}"`);
  for (const size of ["maxIncomingMessageSize", "maxOutgoingMessageSize"] as const) {
    const bytes: unknown = config[size];
    if (bytes === undefined || (Number.isInteger(bytes) && (bytes as number) > 0 && (bytes as number) <= MAX_MESSAGE_BYTES)) continue;
    throw new TypeError(`setup(): "${size}" must be a whole number of bytes from 1 to ${MAX_MESSAGE_BYTES}`);
  }
  const { level, baseLogger } = section(config, "logging");
  if (level !== undefined && !["silent", ...LOG_LEVELS].includes(level as string)) throw new TypeError(`setup(): "logging.level" must be one of ${LOG_LEVELS.join(", ")}, silent`);
  if (baseLogger !== undefined && !isLogger(baseLogger)) throw new TypeError(`setup(): "logging.baseLogger" must have the methods ${LOG_LEVELS.join(", ")}`);
  const { basePath } = section(config, "serverless");
  if (basePath !== undefined && typeof basePath !== "string") throw new TypeError('setup(): "serverless.basePath" must be a text');
}

/** Options that ask for what does not exist here: whoever sets them is to be told. */
export function idleKeys(config: RegistryConfig<ActorDefinitions>): string[] {
  return IDLE_KEYS.filter((key) => Object.hasOwn(config, key) && config[key] !== undefined);
}

function section(config: object, name: "logging" | "serverless"): Readonly<Record<string, unknown>> {
  const value: unknown = (Object.hasOwn(config, name) ? (config as Readonly<Record<string, unknown>>)[name] : undefined) ?? {};
  if (typeof value !== "object") throw new TypeError(`setup(): "${name}" must be an object`);
  return own(value as Readonly<Record<string, unknown>>);
}

function isLogger(value: unknown): value is LogSink {
  return typeof value === "object" && value !== null && LOG_LEVELS.every((level) => typeof (value as Record<string, unknown>)[level] === "function");
}
