import { own } from "../../protocol/index.js";
import type { ActorOptions } from "../api/actor-options.js";

/** `options` with defaults. Times are in ms, sizes in bytes. */
export interface CompiledOptions {
  readonly actionTimeout: number;
  readonly createVarsTimeout: number;
  readonly createConnStateTimeout: number;
  readonly onBeforeConnectTimeout: number;
  readonly onConnectTimeout: number;
  readonly onMigrateTimeout: number;
  readonly sleepGracePeriod: number;
  readonly sleepTimeout: number;
  readonly noSleep: boolean;
  readonly maxQueueSize: number;
  readonly maxQueueBytes: number;
  readonly maxQueueMessageSize: number;
  readonly maxConnections: number;
  readonly maxConnectionCalls: number;
  readonly maxConnectionCallBytes: number;
  readonly maxUnreadBytes: number;
  readonly maxSchedules: number;
  readonly canHibernateWebSocket: NonNullable<ActorOptions["canHibernateWebSocket"]>;
}

const DEFAULTS: CompiledOptions = {
  actionTimeout: 60_000,
  createVarsTimeout: 5_000,
  createConnStateTimeout: 5_000,
  onBeforeConnectTimeout: 5_000,
  onConnectTimeout: 5_000,
  onMigrateTimeout: 30_000,
  sleepGracePeriod: 15_000,
  sleepTimeout: 30_000,
  noSleep: false,
  maxQueueSize: 1_000,
  maxQueueBytes: 8_388_608,
  maxQueueMessageSize: 65_536,
  maxConnections: 10_000,
  maxConnectionCalls: 256,
  maxConnectionCallBytes: 16_777_216,
  maxUnreadBytes: 8_388_608,
  maxSchedules: 1_000,
  canHibernateWebSocket: false,
};

/** Options without effect. They are checked anyway, so that mistakes are found. */
const IDLE_NUMERIC = [
  "stateSaveInterval",
  "connectionLivenessTimeout",
  "connectionLivenessInterval",
  "onDestroyTimeout",
  "waitUntilTimeout",
  "preloadMaxWorkflowBytes",
  "preloadMaxConnectionsBytes",
];
const IDLE = new Set([...IDLE_NUMERIC, "enableActorRuntimeSocket"]);
const NUMERIC = new Set([
  ...Object.entries(DEFAULTS).flatMap(([key, value]) => (typeof value === "number" ? [key] : [])),
  ...IDLE_NUMERIC,
]);
const OTHERS = new Map<string, readonly string[]>([
  ["name", ["string"]],
  ["icon", ["string"]],
  ["noSleep", ["boolean"]],
  ["canHibernateWebSocket", ["boolean", "function"]],
  ["enableActorRuntimeSocket", ["boolean"]],
]);

/** @throws {TypeError} when an option is unknown or invalid */
export function checkOptions(options: unknown): void {
  if (options === undefined) return;
  if (typeof options !== "object" || options === null) throw new TypeError('actor(): "options" must be an object');
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const kinds = OTHERS.get(key);
    if (kinds) {
      if (!kinds.includes(typeof value))
        throw new TypeError(`actor(): option "${key}" must be a ${kinds.join(" or a ")}`);
      continue;
    }
    if (!NUMERIC.has(key)) throw new TypeError(`actor(): unknown option "${key}"`);
    if (typeof value !== "number" || !(value > 0 && value < Infinity))
      throw new TypeError(`actor(): option "${key}" must be a positive, finite number`);
  }
}

/** Names of given options that have no effect, for a warning. */
export function idleOptions(options: ActorOptions | undefined): string[] {
  return Object.entries(options ?? {}).flatMap(([key, value]) =>
    IDLE.has(key) && value !== undefined && value !== false ? [key] : [],
  );
}

export function compileOptions(options: ActorOptions | undefined): CompiledOptions {
  const given = Object.entries(options ?? {}).filter(
    ([key, value]) => value !== undefined && Object.hasOwn(DEFAULTS, key),
  );
  return own({ ...DEFAULTS, ...Object.fromEntries(given) });
}
