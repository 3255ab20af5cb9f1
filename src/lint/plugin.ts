import { noOuterAssignment } from "./rules/no-outer-assignment.js";
import { noOuterContext } from "./rules/no-outer-context.js";
import { noRepeatedName } from "./rules/no-repeated-name.js";
import { noUnawaitedOperation } from "./rules/no-unawaited-operation.js";
import { noUnrecordedInput } from "./rules/no-unrecorded-input.js";

/** A rule, in a type that fits ESLint's own, which name the nodes of every language. */
export interface LintRule {
  readonly meta: {
    readonly type: "problem";
    readonly docs: { readonly description: string; readonly url: string };
    readonly messages: Record<string, string>;
    readonly schema: [];
  };
  // oxlint-disable-next-line typescript/no-explicit-any -- ESLint's context
  create(context: any): Record<string, (node: any) => void>;
}

/** A configuration of ESLint: one element of the array that `eslint.config.js` exports. */
export interface LintConfig {
  readonly name: string;
  readonly plugins: Record<"perdure", LintPlugin>;
  readonly rules: Record<string, "error">;
}

/** A plugin with ESLint's API, which oxlint has as well. */
export interface LintPlugin {
  readonly meta: { readonly name: string };
  readonly rules: Record<string, LintRule>;
  readonly configs: Record<"recommended", LintConfig>;
}

const rules: Record<string, LintRule> = {
  "no-outer-assignment": noOuterAssignment,
  "no-unrecorded-input": noUnrecordedInput,
  "no-outer-context": noOuterContext,
  "no-unawaited-operation": noUnawaitedOperation,
  "no-repeated-name": noRepeatedName,
};

/**
 * Rules for the code of workflows: each finds what works until the first eviction, or ends a run.
 *
 * @example
 *     // eslint.config.js
 *     import perdure from "perdure/lint";
 *     export default [perdure.configs.recommended];
 */
export const plugin: LintPlugin = {
  meta: { name: "perdure" },
  rules,
  configs: {
    recommended: {
      name: "perdure/recommended",
      plugins: {
        // A configuration names the plugin that it belongs to.
        get perdure() {
          return plugin;
        },
      },
      rules: Object.fromEntries(Object.keys(rules).map((name) => [`perdure/${name}`, "error"] as const)),
    },
  },
};
