import { documented } from "../documented.js";
import { isFunction, isWithin, type Node, type Rule } from "../syntax-tree.js";
import { isCalledAtOnce, WorkflowCode, type Operation } from "../workflow-code.js";

const LOOPS = /^(For|ForOf|ForIn|While|DoWhile)Statement$/;
/** What runs its statements one after the other, and whose end nothing passes by an accident of the conditions around. */
const LISTS = /^(BlockStatement|SwitchCase|Program)$/;
/** What may skip a part of itself. */
const CONDITIONS = /^IfStatement$|^(Conditional|Logical)Expression$/;

/** Names are the addresses of what is recorded: one that comes a second time in its scope ends the run as diverged. */
export const noRepeatedName: Rule = {
  meta: documented("no-repeated-name", "no name twice in one scope of a workflow", {
    twice:
      'The name "{{name}}" stands a second time in this scope, so the workflow would end diverged: give each operation a name of its own.',
    loop:
      'The name "{{name}}" comes again in the next round of this loop, so the workflow would end diverged: ' +
      "put what differs into the name, or use `{{context}}.loop`.",
  }),
  create: (context) => {
    const code = new WorkflowCode(context.sourceCode);
    const seen = new Map<Node, Operation[]>();
    return {
      CallExpression: (node) => {
        const operation = code.operationOf(node);
        const name = operation?.name;
        // Waits for messages may repeat their names.
        if (!operation || name === undefined || operation.method.startsWith("queue.")) return;
        const { scope } = operation;
        const earlier = (seen.get(scope) ?? []).find(
          (other) => other.name === name && isAlwaysBefore(other.call, node),
        );
        seen.set(scope, [...(seen.get(scope) ?? []), operation]);
        if (earlier) context.report({ node, messageId: "twice", data: { name } });
        else if (isRepeated(node, scope))
          context.report({ node, messageId: "loop", data: { name, context: operation.context.name } });
      },
    };
  },
};

/** Whether a call has always been made when the code reaches another one further down. */
function isAlwaysBefore(call: Node, other: Node): boolean {
  let node = call;
  while (node.parent && !LISTS.test(node.parent.type)) {
    node = node.parent;
    if (isFunction(node) || CONDITIONS.test(node.type)) return false;
  }
  return node.parent !== null && isWithin(other, node.parent) && node.range[1] <= other.range[0];
}

/** Whether a call stands in a loop of the language, or in a function that is called for each of several elements. */
function isRepeated(call: Node, scope: Node): boolean {
  for (let node = call; node.parent && node !== scope; node = node.parent) {
    const { parent } = node;
    if (LOOPS.test(parent.type) && parent.body === node) return true;
    if (isFunction(node) && isCalledAtOnce(node) && parent.type === "CallExpression" && parent.callee !== node)
      return true;
  }
  return false;
}
