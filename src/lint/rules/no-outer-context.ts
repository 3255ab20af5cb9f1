import { documented } from "../documented.js";
import type { Rule } from "../syntax-tree.js";
import { WorkflowCode } from "../workflow-code.js";

/** An operation in a callback needs that callback's own context: the outer scope is in an operation as long as it runs. */
export const noOuterContext: Rule = {
  meta: documented("no-outer-context", "no operation of an outer context in a step, branch, iteration or try block", {
    step: "`{{context}}.{{method}}` cannot run inside a step, which is an operation itself: do it before or after the step.",
    other:
      "`{{context}}.{{method}}` cannot run here, since `{{context}}` waits for this callback: use the context that the callback is given.",
  }),
  create: (context) => {
    const code = new WorkflowCode(context.sourceCode);
    return {
      CallExpression: (node) => {
        const operation = code.operationOf(node);
        if (!operation) return;
        const callback = code.callbackAround(node);
        if (!callback || callback === operation.scope) return;
        const messageId = code.roleOf(callback) === "step" ? "step" : "other";
        context.report({ node, messageId, data: { context: operation.context.name, method: operation.method } });
      },
    };
  },
};
