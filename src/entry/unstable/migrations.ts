/** `perdure/unstable/migrations`: numbered SQL migrations. It may change in any release. */
export { DEFAULT_MIGRATION_TABLE_NAME, migrations } from "../../actor/index.js";
export type { Migration, MigrationDatabase, MigrationsOptions } from "../../actor/index.js";
