import { checkValue, encodeValue, ownField } from "../../protocol/index.js";
import { flattenSchemas } from "./action-schemas.js";
import { checkDeclarations } from "./check-declarations.js";
import type { StandardSchema } from "../api/declarations.js";
import { checkInspector, tabsOf } from "./inspector.js";
import { checkOptions, compileOptions, idleOptions, type CompiledOptions } from "./options.js";
import { isStandardSchema } from "./standard-schema.js";
import { partOf, type CarriedPart, type DeclaredPart } from "./part-carrier.js";
import type { AnyActorDefinition } from "../api/contexts.js";

/** A handler as the runtime calls it, untyped. */
export type Handler = (c: unknown, ...args: unknown[]) => unknown;

/** A definition as the runtime uses it: flat actions, complete options. */
export interface CompiledActor {
  readonly name: string;
  readonly actions: ReadonlyMap<string, Handler>;
  readonly inputSchemas: ReadonlyMap<string, StandardSchema>;
  readonly options: CompiledOptions;
  /** Names of given options that have no effect. */
  readonly idleOptions: readonly string[];
  readonly hasState: boolean;
  readonly hasVars: boolean;
  /** The parts of its definition. */
  readonly parts: readonly CarriedPart[];
  /** The parts of all actors of its registry. */
  readonly knownParts: readonly DeclaredPart[];
  /** Whether it has a workflow or a `run` handler, which may receive messages. */
  readonly hasRun: boolean;
  /** Its plain `run` handler. Undefined if a part runs it. */
  readonly run: Handler | undefined;
  readonly config: AnyActorDefinition["config"];
  readonly messageLimits: MessageLimits;
}

/** Bytes of one frame of a connection, and of an action's arguments over HTTP. */
export interface MessageLimits {
  readonly incoming: number;
  readonly outgoing: number;
}
export const DEFAULT_MESSAGE_LIMITS: MessageLimits = { incoming: 65_536, outgoing: 1_048_576 };

/** Timeouts of the hooks that have no option, in ms. */
export const CREATE_TIMEOUT_MS = 5_000;
export const WAKE_TIMEOUT_MS = 30_000;

const CONFIG_KEYS = new Set([
  "types",
  "state",
  "createState",
  "vars",
  "createVars",
  "connState",
  "createConnState",
  "connParamsSchema",
  "db",
  "actions",
  "actionInputSchemas",
  "events",
  "queues",
  "run",
  "onMigrate",
  "onCreate",
  "onWake",
  "onSleep",
  "onDestroy",
  "onStateChange",
  "canCreate",
  "inputSchema",
  "onBeforeConnect",
  "onConnect",
  "onDisconnect",
  "onBeforeActionResponse",
  "onRequest",
  "onWebSocket",
  "inspector",
  "options",
]);
const HOOKS = [
  "createState",
  "createVars",
  "createConnState",
  "onMigrate",
  "onCreate",
  "onWake",
  "onSleep",
  "onDestroy",
  "onStateChange",
  "canCreate",
  "onBeforeConnect",
  "onConnect",
  "onDisconnect",
  "onBeforeActionResponse",
  "onRequest",
  "onWebSocket",
];
const RUN_KEYS = new Set(["name", "icon", "run", "inspector"]);
const EXCLUSIVE_PAIRS = [
  ["state", "createState"],
  ["vars", "createVars"],
  ["connState", "createConnState"],
] as const;
/** Checks the argument of `actor()`. @throws {TypeError} when it is invalid */
export function checkConfig(config: object): void {
  const given = config as Record<string, unknown>;
  for (const key of Object.keys(given)) {
    if (!CONFIG_KEYS.has(key)) throw new TypeError(`actor(): unknown key "${key}"`);
  }
  for (const [value, create] of EXCLUSIVE_PAIRS) {
    if (given[value] !== undefined && given[create] !== undefined)
      throw new TypeError(`actor(): give either "${value}" or "${create}", not both`);
  }
  for (const hook of HOOKS) {
    if (given[hook] !== undefined && typeof given[hook] !== "function")
      throw new TypeError(`actor(): "${hook}" must be a function`);
  }
  for (const schema of ["inputSchema", "connParamsSchema"]) {
    if (given[schema] !== undefined && !isStandardSchema(given[schema]))
      throw new TypeError(`actor(): "${schema}" must be a Standard Schema`);
  }
  if (given["db"] !== undefined && !partOf(given["db"])) {
    throw new TypeError(
      'actor(): "db" must be what db() of perdure/db, or of perdure/db/drizzle, gives; ' +
        "databaseProvider() of perdure/db makes one of { createClient }",
    );
  }
  flattenSchemas(given["actionInputSchemas"], flattenActions(given["actions"]));
  runHandlerOf(given["run"]);
  checkStatics(given);
  checkDeclarations("queues", given["queues"]);
  checkDeclarations("events", given["events"]);
  checkInspector(given["inspector"]);
  checkOptions(given["options"]);
}

/** Checks the values that each actor, connection or start copies, so that an uncopyable value fails early. */
function checkStatics({ state, connState, vars }: Readonly<Record<string, unknown>>): void {
  for (const [what, value] of Object.entries({ state, connState })) {
    if (value === undefined) continue;
    attempt(`"${what}" cannot be stored`, () => {
      checkValue(value, what);
      encodeValue(value, { what });
    });
  }
  if (vars !== undefined)
    attempt('"vars" cannot be copied for each start (use createVars for values with functions)', () =>
      structuredClone(vars),
    );
}

function attempt(problem: string, copy: () => unknown): void {
  try {
    copy();
  } catch (cause) {
    throw new TypeError(`actor(): ${problem}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Compiles a definition for the runtime. */
export function compileActor(
  name: string,
  definition: AnyActorDefinition,
  messageLimits = DEFAULT_MESSAGE_LIMITS,
  knownParts: readonly DeclaredPart[] = [],
): CompiledActor {
  const { config } = definition;
  const run = runHandlerOf(config.run);
  const parts = partsOf(definition);
  const actions = flattenActions(config.actions);
  return {
    name,
    config,
    actions,
    inputSchemas: flattenSchemas(config.actionInputSchemas, actions),
    options: compileOptions(config.options),
    idleOptions: [
      ...idleOptions(config.options),
      ...(tabsOf(config.inspector).some(({ hidden }) => !hidden) ? ["inspector.tabs"] : []),
    ],
    hasState: config.state !== undefined || config.createState !== undefined,
    hasVars: config.vars !== undefined || config.createVars !== undefined,
    parts,
    knownParts,
    hasRun: run !== undefined,
    run: parts.some(({ carrier }) => carrier === run) ? undefined : run,
    messageLimits,
  };
}

/** The parts of a definition. */
export function partsOf({ config }: AnyActorDefinition): CarriedPart[] {
  return [runHandlerOf(config.run), config.db].flatMap((carrier) => partOf(carrier) ?? []);
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
  const nested = typeof run === "object" && run !== null ? ownField(run as { run?: unknown }, "run") : undefined;
  if (typeof nested !== "function") throw new TypeError('actor(): "run" must be a function, workflow(…), or { run }');
  for (const key of Object.keys(run as object))
    if (!RUN_KEYS.has(key)) throw new TypeError(`actor(): run: unknown key "${key}"`);
  return nested as Handler;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
