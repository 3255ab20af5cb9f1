import { documented } from "../documented.js";
import { functionAround, memberName, unwrap, wrapped, type Node, type Rule } from "../syntax-tree.js";
import { WorkflowCode } from "../workflow-code.js";

const TOGETHER = new Set(["all", "allSettled", "any", "race"]);

/** A scope is in one operation at a time, so each is awaited before the next begins. */
export const noUnawaitedOperation: Rule = {
  meta: documented("no-unawaited-operation", "no operation of a workflow that nobody awaits, and no two at a time", {
    alone: "Nobody awaits `{{operation}}`, and a workflow does one operation after another: await it.",
    together:
      "`Promise.{{combinator}}` begins several operations of one context, which does one after another: use its `join` or `race`.",
  }),
  create: (context) => {
    const code = new WorkflowCode(context.sourceCode);
    return {
      CallExpression: (node) => {
        const operation = code.operationOf(node);
        if (operation && isDropped(node)) {
          context.report({
            node,
            messageId: "alone",
            data: { operation: `${operation.context.name}.${operation.method}` },
          });
        }
        const combinator = combinatorOf(node);
        const operations = combinator ? begunIn(node.arguments?.[0], code) : [];
        if (combinator && operations.length > 1) context.report({ node, messageId: "together", data: { combinator } });
      },
    };
  },
};

/** Whether the promise of a call goes nowhere: a statement, or the result of a `forEach`. */
function isDropped(call: Node): boolean {
  const use = wrapped(call);
  const { parent } = use;
  if (parent?.type === "UnaryExpression" && parent.operator === "void") return true;
  if (parent?.type === "ExpressionStatement") return true;
  const fn = functionAround(use);
  const isReturned = parent === fn || parent?.type === "ReturnStatement";
  const around = fn && wrapped(fn).parent;
  return isReturned && around?.type === "CallExpression" && memberName(unwrap(around.callee) as Node) === "forEach";
}

function combinatorOf({ callee }: Node): string | undefined {
  const member = unwrap(callee);
  if (member?.type !== "MemberExpression" || unwrap(member.object)?.name !== "Promise") return undefined;
  const name = memberName(member);
  return name !== undefined && TOGETHER.has(name) ? name : undefined;
}

/** The operations of one context among the elements of an array; a `map` makes as many as it likes. */
function begunIn(list: Node | undefined, code: WorkflowCode): Node[] {
  const array = unwrap(list);
  if (array?.type === "CallExpression") {
    const made = array.arguments?.[0];
    const body = unwrap(made?.body as Node | undefined);
    const isMap = memberName(unwrap(array.callee) ?? array) === "map";
    return isMap && body && code.operationOf(body) ? [body, body] : [];
  }
  const calls = (array?.elements ?? []).flatMap((each) => unwrap(each) ?? []);
  const scopes = calls.map((call) => code.operationOf(call)?.scope);
  return calls.filter(
    (_, index) => scopes[index] !== undefined && scopes.indexOf(scopes[index]) !== scopes.lastIndexOf(scopes[index]),
  );
}
