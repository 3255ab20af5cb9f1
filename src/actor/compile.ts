import { workflowOf, type WorkflowDefinition } from "./workflow-run.js";
import type { AnyActorDefinition, ActorOptions } from "./types.js";

/** Untyped handlers, as the runtime calls them. */
export type Handler = (c: unknown, ...args: unknown[]) => unknown;

/** A definition as the runtime uses it: actions flat, options complete. */
export interface CompiledActor {
  readonly name: string;
  readonly actions: ReadonlyMap<string, Handler>;
  readonly options: CompiledOptions;
  readonly hasState: boolean;
  readonly hasVars: boolean;
  readonly workflow: WorkflowDefinition | undefined;
  readonly run: Handler | undefined;
  readonly config: AnyActorDefinition["config"];
  readonly messageLimits: MessageLimits;
}

/** Bytes of one frame of a connection, and of an action's arguments over HTTP. */
export interface MessageLimits {
  readonly incoming: number;
  readonly outgoing: number;
}
const DEFAULT_MESSAGE_LIMITS: MessageLimits = { incoming: 65_536, outgoing: 1_048_576 };

/** All in ms, or counts and bytes. */
export interface CompiledOptions {
  readonly actionTimeout: number;
  readonly createVarsTimeout: number;
  readonly createConnStateTimeout: number;
  readonly onBeforeConnectTimeout: number;
  readonly onConnectTimeout: number;
  readonly onMigrateTimeout: number;
  readonly sleepGracePeriod: number;
  readonly maxQueueSize: number;
  readonly maxQueueMessageSize: number;
  readonly maxSchedules: number;
}

/** Fixed caps of the hooks that have no option, ms (`spec/api.md` A.4). */
export const CREATE_TIMEOUT_MS = 5_000;
export const WAKE_TIMEOUT_MS = 30_000;

const DEFAULT_OPTIONS: CompiledOptions = {
  actionTimeout: 60_000,
  createVarsTimeout: 5_000,
  createConnStateTimeout: 5_000,
  onBeforeConnectTimeout: 5_000,
  onConnectTimeout: 5_000,
  onMigrateTimeout: 30_000,
  sleepGracePeriod: 15_000,
  maxQueueSize: 1_000,
  maxQueueMessageSize: 65_536,
  maxSchedules: 1_000,
};

const CONFIG_KEYS = new Set([
  "types", "state", "createState", "vars", "createVars", "connState", "createConnState", "connParamsSchema", "db", "actions",
  "actionInputSchemas", "events", "queues", "run", "onMigrate", "onCreate", "onWake", "onSleep", "onDestroy", "onStateChange",
  "onBeforeConnect", "onConnect", "onDisconnect", "onBeforeActionResponse", "onRequest", "onWebSocket", "inspector", "options",
]);
const HOOKS = ["createState", "createVars", "createConnState", "onMigrate", "onCreate", "onWake", "onSleep", "onDestroy", "onStateChange",
  "onBeforeConnect", "onConnect", "onDisconnect", "onBeforeActionResponse", "onRequest", "onWebSocket"];
/** Known, but without effect in this release: refused, so that no access rule or clean-up is skipped in silence. */
const NOT_BUILT = ["db", "actionInputSchemas", "onSleep", "onStateChange", "onBeforeActionResponse", "onRequest", "onWebSocket"];
const EXCLUSIVE_PAIRS = [["state", "createState"], ["vars", "createVars"], ["connState", "createConnState"]] as const;
const NUMERIC_OPTIONS = new Set([
  "createVarsTimeout", "createConnStateTimeout", "onBeforeConnectTimeout", "onConnectTimeout", "onMigrateTimeout", "sleepGracePeriod",
  "stateSaveInterval", "actionTimeout", "connectionLivenessTimeout", "connectionLivenessInterval", "sleepTimeout", "maxQueueSize",
  "maxQueueMessageSize", "maxSchedules", "onDestroyTimeout", "waitUntilTimeout", "preloadMaxWorkflowBytes", "preloadMaxConnectionsBytes",
]);
const OTHER_OPTIONS = new Set(["name", "icon", "noSleep", "canHibernateWebSocket", "enableActorRuntimeSocket"]);

/** @throws TypeError that names what is wrong with the argument of `actor()` */
export function checkConfig(config: object): void {
  if (typeof config !== "object" || config === null) throw new TypeError("actor() takes a configuration object");
  const given = config as Record<string, unknown>;
  for (const key of Object.keys(given)) {
    if (!CONFIG_KEYS.has(key)) throw new TypeError(`actor(): unknown key "${key}"`);
  }
  for (const [value, create] of EXCLUSIVE_PAIRS) {
    if (given[value] !== undefined && given[create] !== undefined) throw new TypeError(`actor(): give either "${value}" or "${create}", not both`);
  }
  for (const hook of HOOKS) {
    if (given[hook] !== undefined && typeof given[hook] !== "function") throw new TypeError(`actor(): "${hook}" must be a function`);
  }
  for (const hook of NOT_BUILT) {
    if (given[hook] === undefined) continue;
    throw new TypeError(`actor(): "${hook}" is not built yet; an actor that relies on it would run without it`);
  }
  flattenActions(given["actions"]);
  runHandlerOf(given["run"]);
  checkOptions(given["options"]);
}

/** A definition, ready for the runtime. */
export function compileActor(name: string, definition: AnyActorDefinition, limits: Partial<MessageLimits> = {}): CompiledActor {
  const { config } = definition;
  const run = runHandlerOf(config.run);
  const workflow = run && workflowOf(run);
  return {
    name,
    config,
    actions: flattenActions(config.actions),
    options: { ...DEFAULT_OPTIONS, ...pickDefined(config.options) },
    hasState: config.state !== undefined || config.createState !== undefined,
    hasVars: config.vars !== undefined || config.createVars !== undefined,
    workflow,
    run: workflow ? undefined : run,
    messageLimits: { ...DEFAULT_MESSAGE_LIMITS, ...limits },
  };
}

function flattenActions(actions: unknown): Map<string, Handler> {
  const flat = new Map<string, Handler>();
  const visit = (node: unknown, path: string): void => {
    if (typeof node !== "object" || node === null || !isPlain(node)) {
      throw new TypeError(`actor(): action "${path}" must be a function, or a plain object of actions`);
    }
    for (const [key, value] of Object.entries(node)) {
      const name = path === "" ? key : `${path}.${key}`;
      if (typeof value !== "function") {
        visit(value, name);
        continue;
      }
      if (flat.has(name)) throw new TypeError(`actor(): two actions have the name "${name}"`);
      flat.set(name, value as Handler);
    }
  };
  if (actions !== undefined) visit(actions, "");
  return flat;
}

function runHandlerOf(run: unknown): Handler | undefined {
  if (run === undefined) return undefined;
  if (typeof run === "function") return run as Handler;
  const nested = typeof run === "object" && run !== null ? (run as { run?: unknown }).run : undefined;
  if (typeof nested !== "function") throw new TypeError('actor(): "run" must be a function, workflow(…), or { run }');
  return nested as Handler;
}

function checkOptions(options: unknown): void {
  if (options === undefined) return;
  if (typeof options !== "object" || options === null) throw new TypeError('actor(): "options" must be an object');
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined || OTHER_OPTIONS.has(key)) continue;
    if (!NUMERIC_OPTIONS.has(key)) throw new TypeError(`actor(): unknown option "${key}"`);
    if (typeof value !== "number" || !(value > 0)) throw new TypeError(`actor(): option "${key}" must be a positive number`);
  }
}

function pickDefined(options: ActorOptions | undefined): Partial<CompiledOptions> {
  return Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => typeof value === "number"));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
