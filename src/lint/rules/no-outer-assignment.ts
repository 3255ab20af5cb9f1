import { documented } from "../documented.js";
import {
  constantValue,
  isWithin,
  memberName,
  unwrap,
  variableOf,
  type Node,
  type Rule,
  type RuleContext,
  type Variable,
} from "../syntax-tree.js";
import { WorkflowCode, type Role } from "../workflow-code.js";

const CHANGING = /^(push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin|set|add|delete|clear)$/;
const COLLECTIONS = new Set(["Array", "Map", "Set", "WeakMap", "WeakSet"]);
/** Callbacks that do not run again once they have ended. */
const RECORDED: ReadonlySet<Role | undefined> = new Set<Role>(["step", "iteration", "branch"]);

/** A callback that is not run again leaves nothing behind in variables of the code around it. */
export const noOuterAssignment: Rule = {
  meta: documented("no-outer-assignment", "no assignment to an outer variable in a step, a branch or an iteration", {
    step:
      "`{{name}}` is declared outside this step, which is not run again after an eviction: the change is " +
      "lost, so return the value from the step.",
    branch:
      "`{{name}}` is declared outside this branch, which is not run again after it has ended: the change is " +
      "lost, so return the value from the branch.",
    iteration:
      "`{{name}}` is declared outside this iteration, which is not run again after it has ended: the change is " +
      "lost, so carry the value in the loop's `state`.",
  }),
  create: (context) => {
    const check = new Check(context);
    return {
      "Program:exit": () => {
        for (const scope of context.sourceCode.scopeManager?.scopes ?? []) {
          for (const reference of scope.references) {
            if (reference.isWrite() && !reference.init && reference.resolved)
              check.write(reference.identifier, reference.resolved, true);
          }
        }
      },
      AssignmentExpression: (node) => check.member(node.left),
      UpdateExpression: (node) => check.member(node.argument),
      UnaryExpression: (node) => {
        if (node.operator === "delete") check.member(node.argument);
      },
      CallExpression: (node) => check.call(node),
    };
  },
};

class Check {
  readonly #context: RuleContext;
  readonly #code: WorkflowCode;

  constructor(context: RuleContext) {
    this.#context = context;
    this.#code = new WorkflowCode(context.sourceCode);
  }

  /** A property of a variable that is written. */
  member(target: Node | null | undefined): void {
    let object = unwrap(target);
    if (object?.type !== "MemberExpression") return;
    while (object?.type === "MemberExpression") object = unwrap(object.object);
    if (object?.type !== "Identifier") return;
    const variable = variableOf(this.#context.sourceCode, object);
    if (variable && !this.#code.contextOf(object)) this.write(object, variable, false);
  }

  /** A collection that is made in workflow code, and changed by a method. */
  call(call: Node): void {
    const callee = unwrap(call.callee);
    const object = callee?.type === "MemberExpression" ? unwrap(callee.object) : undefined;
    if (object?.type !== "Identifier" || !CHANGING.test(memberName(callee as Node) ?? "")) return;
    const variable = variableOf(this.#context.sourceCode, object);
    const value = variable && constantValue(variable);
    const isCollection =
      value?.type === "ArrayExpression" ||
      (value?.type === "NewExpression" && COLLECTIONS.has(unwrap(value.callee)?.name ?? ""));
    if (variable && isCollection) this.write(object, variable, false);
  }

  /** A variable that is written, as a whole or a part of what it holds. */
  write(identifier: Node, variable: Variable, isWhole: boolean): void {
    const [def] = variable.defs;
    const callback = this.#callbackAround(identifier);
    if (!def || !callback || isWithin(def.name, callback)) return;
    const isOfWorkflow = this.#code.callbackAround(def.name) !== undefined;
    if (!isOfWorkflow && !(isWhole && this.#isReadInWorkflow(variable, callback))) return;
    const messageId = this.#code.roleOf(callback) as string;
    this.#context.report({ node: identifier, messageId, data: { name: variable.name } });
  }

  /** The innermost recorded callback around a node. */
  #callbackAround(node: Node): Node | undefined {
    let callback = this.#code.callbackAround(node);
    while (callback && !RECORDED.has(this.#code.roleOf(callback))) callback = this.#code.callbackAround(callback);
    return callback;
  }

  /** A variable of the module may be a cache of steps; workflow code that reads it finds it empty after an eviction. */
  #isReadInWorkflow(variable: Variable, callback: Node): boolean {
    return variable.references.some((reference) => {
      if (!reference.isRead() || isWithin(reference.identifier, callback)) return false;
      const role = this.#code.runsAt(reference.identifier);
      return role !== undefined && role !== "step";
    });
  }
}
