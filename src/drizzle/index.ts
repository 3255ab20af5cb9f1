export * from "./builders.js";
export { db, type DrizzleDatabase, type DrizzleDatabaseConfig, type DrizzleMigrations } from "./drizzle-database.js";
export { defineConfig, type DrizzleKitConfig } from "./drizzle-kit.js";
