/** `perdure/lint`: a plugin for ESLint and oxlint, with rules for the code of workflows. */
// Linters load a plugin by its module's default.
export { plugin as default } from "../lint/index.js";
export type { LintConfig, LintPlugin, LintRule } from "../lint/index.js";
