import { own } from "../protocol/index.js";

/** All durations in ms; all numbers are positive. */
export interface ActorOptions {
  /** For displays; without effect. */
  readonly name?: string;
  readonly icon?: string;
  /** Of an action, of `onBeforeActionResponse`, and of a send with `wait` that names no timeout; default 60,000. */
  readonly actionTimeout?: number;
  /** Default 5,000. Too long is actor/callback_timed_out, as for the hooks below. */
  readonly createVarsTimeout?: number;
  /** Default 5,000. */
  readonly createConnStateTimeout?: number;
  /** Default 5,000. */
  readonly onBeforeConnectTimeout?: number;
  /** Of `onConnect` and of `onDisconnect`; default 5,000. */
  readonly onConnectTimeout?: number;
  /** Default 30,000. */
  readonly onMigrateTimeout?: number;
  /** For all that is still done when the actor goes to sleep or is destroyed: its hook, `waitUntil`, `keepAwake`; default 15,000. */
  readonly sleepGracePeriod?: number;
  /** How long an actor with `onSleep` must be idle before it runs; default 30,000. */
  readonly sleepTimeout?: number;
  /** The actor never goes to sleep for being idle. The platform may still evict it. */
  readonly noSleep?: boolean;
  /** Stored messages of all queues together; default 1,000. */
  readonly maxQueueSize?: number;
  /** Bytes of the stored messages' bodies together, beyond which a send is queue/full; default 8 MiB. */
  readonly maxQueueBytes?: number;
  /** Bytes of one encoded message; default 65,536. */
  readonly maxQueueMessageSize?: number;
  /** Connections and raw sockets at a time, beyond which a new one is connection/too_many; default 10,000. */
  readonly maxConnections?: number;
  /** Calls of one connection that run at a time; later ones wait their turn; default 256. */
  readonly maxConnectionCalls?: number;
  /** Bytes of one connection's calls that have no answer yet, beyond which a call is connection/overloaded; default 16 MiB. */
  readonly maxConnectionCallBytes?: number;
  /** Bytes that our own client may leave unread before its connection is closed with 1013; default 8 MiB, at least twice `maxOutgoingMessageSize`. */
  readonly maxUnreadBytes?: number;
  /** Schedules of all kinds together; default 1,000. */
  readonly maxSchedules?: number;
  /**
   * Whether a raw socket (`onWebSocket`) stays open while the actor is out of memory, or which do; default false. Connections
   * always do.
   */
  readonly canHibernateWebSocket?: boolean | ((request: Request) => boolean);
  /** @deprecated Accepted with a warning, without effect: state is committed before anything that depends on it is visible. */
  readonly stateSaveInterval?: number;
  /** @deprecated Accepted with a warning, without effect: the platform answers pings, also for an actor that hibernates. */
  readonly connectionLivenessTimeout?: number;
  /** @deprecated Accepted with a warning, without effect. */
  readonly connectionLivenessInterval?: number;
  /** @deprecated Accepted with a warning, without effect. */
  readonly enableActorRuntimeSocket?: boolean;
  /** @deprecated Accepted with a warning, without effect: `sleepGracePeriod` bounds it. */
  readonly onDestroyTimeout?: number;
  /** @deprecated Accepted with a warning, without effect: `sleepGracePeriod` bounds it. */
  readonly waitUntilTimeout?: number;
  /** @deprecated Accepted with a warning, without effect. */
  readonly preloadMaxWorkflowBytes?: number;
  /** @deprecated Accepted with a warning, without effect. */
  readonly preloadMaxConnectionsBytes?: number;
}

/** `options`, complete. All in ms, or counts and bytes. */
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

/** Without an effect here. They are checked all the same: a typing error is one everywhere. */
const IDLE_NUMERIC = [
  "stateSaveInterval", "connectionLivenessTimeout", "connectionLivenessInterval", "onDestroyTimeout", "waitUntilTimeout", "preloadMaxWorkflowBytes", "preloadMaxConnectionsBytes",
];
const IDLE = new Set([...IDLE_NUMERIC, "enableActorRuntimeSocket"]);
const NUMERIC = new Set([...Object.entries(DEFAULTS).flatMap(([key, value]) => (typeof value === "number" ? [key] : [])), ...IDLE_NUMERIC]);
const OTHERS = new Map<string, readonly string[]>([
  ["name", ["string"]],
  ["icon", ["string"]],
  ["noSleep", ["boolean"]],
  ["canHibernateWebSocket", ["boolean", "function"]],
  ["enableActorRuntimeSocket", ["boolean"]],
]);

/** @throws TypeError that names the option */
export function checkOptions(options: unknown): void {
  if (options === undefined) return;
  if (typeof options !== "object" || options === null) throw new TypeError('actor(): "options" must be an object');
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const kinds = OTHERS.get(key);
    if (kinds) {
      if (!kinds.includes(typeof value)) throw new TypeError(`actor(): option "${key}" must be a ${kinds.join(" or a ")}`);
      continue;
    }
    if (!NUMERIC.has(key)) throw new TypeError(`actor(): unknown option "${key}"`);
    if (typeof value !== "number" || !(value > 0 && value < Infinity)) throw new TypeError(`actor(): option "${key}" must be a positive, finite number`);
  }
}

/** Options that ask for what does not exist here: whoever sets them is to be told. */
export function idleOptions(options: ActorOptions | undefined): string[] {
  return Object.entries(options ?? {}).flatMap(([key, value]) => (IDLE.has(key) && value !== undefined && value !== false ? [key] : []));
}

export function compileOptions(options: ActorOptions | undefined): CompiledOptions {
  const given = Object.entries(options ?? {}).filter(([key, value]) => value !== undefined && Object.hasOwn(DEFAULTS, key));
  return own({ ...DEFAULTS, ...Object.fromEntries(given) });
}
