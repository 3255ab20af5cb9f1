/** What `defineRunHandler` takes. */
export interface RunMetadata {
  /** What an inspector would show; accepted, without effect. */
  readonly name?: string;
  readonly icon?: string;
  readonly [inspector: string]: unknown;
}

/**
 * Names a run handler, as RivetKit does; gives the same function, also one that `workflow(…)` made.
 *
 * @throws TypeError if the handler is no function, or name or icon no string
 * @example
 *     actor({ run: defineRunHandler(async (c) => { … }, { name: "Poller", icon: "rotate" }), actions: {} });
 */
export function defineRunHandler<Run extends (...args: any[]) => any>(run: Run, metadata: RunMetadata = {}): Run {
  if (typeof run !== "function") throw new TypeError("defineRunHandler() takes a function");
  for (const key of ["name", "icon"] as const) {
    if (metadata[key] !== undefined && typeof metadata[key] !== "string")
      throw new TypeError(`defineRunHandler(): "${key}" must be a string`);
  }
  return run;
}
