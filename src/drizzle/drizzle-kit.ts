/** Options of drizzle-kit's configuration file; all of drizzle-kit's options are accepted. */
export interface DrizzleKitConfig {
  /** The file or files that declare the tables. */
  readonly schema?: string | string[];
  /** The folder migrations are written to. Default: `./drizzle`. */
  readonly out?: string;
  readonly [option: string]: unknown;
}

/**
 * Completes drizzle-kit's configuration for SQLite in a Durable Object: the default export of `drizzle.config.ts`.
 *
 * @example
 *     export default defineConfig({ schema: "./src/schema.ts" });
 */
export function defineConfig<C extends DrizzleKitConfig>(
  config: C,
): C & { readonly dialect: "sqlite"; readonly driver: "durable-sqlite" } {
  return { ...config, dialect: "sqlite", driver: "durable-sqlite" };
}
