export { db, defineConfig } from "../../drizzle/index.js";
export type { DrizzleDatabase, DrizzleDatabaseConfig, DrizzleKitConfig, DrizzleMigrations } from "../../drizzle/index.js";
