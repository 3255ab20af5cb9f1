import { objectInspector, recordHistory, type ObjectInspector } from "../actor/index.js";
import { inspectorRoutes, type InspectorOptions, type InspectorRoutes } from "../router/index.js";

/** Both sides of the inspector, for `createHandler`. */
export interface Inspector<Env = unknown> {
  /** @internal */
  readonly routes: InspectorRoutes;
  /** @internal */
  readonly objects: ObjectInspector;
  /** Never there: the bindings that the options read. */
  readonly env?: (env: Env) => void;
}

/**
 * Lets operators look at actors, also at those that cannot start: state, history, queue, schedules, connections, tables.
 * A Worker without it has no such routes, and no code for them.
 *
 * Without options it serves this machine only (`wrangler dev`).
 *
 * @example
 *     createHandler(registry, { inspector: inspector({ token: (env: Env) => env.INSPECTOR_TOKEN }) });
 * @throws TypeError when an option is unknown or not valid
 */
export function inspector<Env = unknown>(options?: InspectorOptions<Env>): Inspector<Env> {
  return { routes: inspectorRoutes(options as InspectorOptions), objects: objectInspector(recordHistory) };
}
