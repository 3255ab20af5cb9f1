/** Runs a rule of the plugin in ESLint's own tester. Code stands in a workflow: `in` the function, or as a whole `file`. */
import { RuleTester } from "eslint";
import { describe, it } from "vitest";
import { plugin } from "../../src/lint/index.js";

RuleTester.describe = describe;
RuleTester.it = it;

/** The body of a workflow whose context is `ctx`. */
export const inWorkflow = (code: string): string =>
  `import { workflow, Loop } from "perdure/workflow";\nexport const run = workflow(async (ctx) => {\n${code}\n});`;

/** Code by what it shows; for what is wrong, with the messages that it gets. */
export function checkRule(
  name: string,
  fine: Readonly<Record<string, string>>,
  wrong: Readonly<Record<string, readonly [code: string, ...messageIds: string[]]>>,
): void {
  new RuleTester().run(name, plugin.rules[name], {
    valid: Object.entries(fine).map(([title, code]) => ({ name: title, code })),
    invalid: Object.entries(wrong).map(([title, [code, ...messageIds]]) => ({
      name: title,
      code,
      errors: messageIds.map((messageId) => ({ messageId })),
    })),
  });
}
