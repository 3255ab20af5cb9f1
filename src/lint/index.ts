export { plugin } from "./plugin.js";
export type { LintConfig, LintPlugin, LintRule } from "./plugin.js";
