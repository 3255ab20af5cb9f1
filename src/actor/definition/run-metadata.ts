/** The name and icon of a run handler. */
export interface RunMetadata {
  /** For an inspector. Has no effect. */
  readonly name?: string;
  readonly icon?: string;
  readonly [inspector: string]: unknown;
}

/**
 * Gives a run handler a name and an icon, for compatibility with RivetKit. Returns the same function.
 *
 * @throws {TypeError} when the handler is not a function, or `name` or `icon` is not a string
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
