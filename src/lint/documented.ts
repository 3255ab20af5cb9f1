import type { Rule } from "./syntax-tree.js";

const PAGE = "https://github.com/perdure/perdure/blob/main/docs/reference/lint.md";

/** The meta data of a rule: it finds faults, has no options, and is explained on one page. */
export function documented(
  name: string,
  description: string,
  messages: Readonly<Record<string, string>>,
): Rule["meta"] {
  return { type: "problem", docs: { description, url: `${PAGE}#${name}` }, messages, schema: [] };
}
