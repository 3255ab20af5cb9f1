/** Options of drizzle-kit's configuration file; all that it knows may stand here. */
export interface DrizzleKitConfig {
  /** Where the tables are declared. */
  readonly schema?: string | string[];
  /** Where migrations are written; default `./drizzle`. */
  readonly out?: string;
  readonly [option: string]: unknown;
}

/**
 * The default export of `drizzle.config.ts`, for SQLite in a Durable Object: `export default defineConfig({ schema:
 * "./src/schema.ts" })`.
 */
export function defineConfig<C extends DrizzleKitConfig>(
  config: C,
): C & { readonly dialect: "sqlite"; readonly driver: "durable-sqlite" } {
  return { ...config, dialect: "sqlite", driver: "durable-sqlite" };
}
