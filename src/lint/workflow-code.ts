import {
  constantText,
  constantValue,
  functionAround,
  isFunction,
  memberName,
  unwrap,
  variableOf,
  wrapped,
  type Node,
  type SourceCode,
  type Variable,
} from "./syntax-tree.js";

/** What runs a function: `block` is that of `ctx.try`, which is run again with the code around it. */
export type Role = "workflow" | "iteration" | "branch" | "block" | "step";

/** A call such as `ctx.sleep("a day", DAY_MS)`. */
export interface Operation {
  readonly method: string;
  readonly call: Node;
  readonly context: Variable;
  /** The function whose first parameter the context is. */
  readonly scope: Node;
  /** The node that names it. */
  readonly nameNode: Node | undefined;
  /** Its name, if it is written out. */
  readonly name: string | undefined;
}

const PACKAGES = new Set(["perdure/workflow", "rivetkit/workflow"]);
const ROLES: Readonly<Record<string, Role>> = { step: "step", tryStep: "step", loop: "iteration", try: "block" };
const OPERATIONS = new Set([
  ...Object.keys(ROLES),
  "join",
  "race",
  "sleep",
  "sleepUntil",
  "rollbackCheckpoint",
  "removed",
  "getVersion",
]);
/** Functions that call what they are given before they return. */
const CALL_AT_ONCE =
  /^(map|flatMap|forEach|filter|find|findIndex|some|every|reduce|reduceRight|sort|toSorted|from|fromAsync)$/;

/** Which functions of a file are workflows, and which are callbacks of a workflow's operations. */
export class WorkflowCode {
  readonly #source: SourceCode;
  readonly #roles = new Map<Node, Role | undefined>();
  readonly #contexts = new Map<Variable, Node | undefined>();

  constructor(source: SourceCode) {
    this.#source = source;
  }

  /** What runs this function, if it is a workflow's. */
  roleOf(fn: Node): Role | undefined {
    if (this.#roles.has(fn)) return this.#roles.get(fn);
    this.#roles.set(fn, undefined);
    const role = this.#usesOf(fn)
      .map((use) => this.#roleAt(use))
      .find((each) => each !== undefined);
    this.#roles.set(fn, role);
    return role;
  }

  /** The innermost function around a node that has a role. */
  callbackAround(node: Node): Node | undefined {
    let fn = functionAround(node);
    while (fn && !this.roleOf(fn)) fn = functionAround(fn);
    return fn;
  }

  /**
   * What runs this code, looked at as it is called: a function of no role counts as the code around it if that calls it, at
   * once or by its name; otherwise nobody here knows when it runs.
   */
  runsAt(node: Node, seen: ReadonlySet<Node> = new Set()): Role | undefined {
    const fn = functionAround(node);
    if (fn === undefined || seen.has(fn)) return undefined;
    const role = this.roleOf(fn);
    if (role) return role;
    const within = new Set([...seen, fn]);
    if (isCalledAtOnce(fn)) return this.runsAt(fn, within);
    if (!this.callbackAround(fn)) return undefined;
    const calls = this.#usesOf(fn).filter((use) => use.parent?.callee === use);
    return calls.map((use) => this.runsAt(use, within)).find((each) => each !== undefined && each !== "step");
  }

  /** The operation that a call is. */
  operationOf(call: Node): Operation | undefined {
    const callee = unwrap(call.callee);
    if (call.type !== "CallExpression" || callee?.type !== "MemberExpression") return undefined;
    const method = memberName(callee) ?? "";
    const object = unwrap(callee.object);
    const isReceive =
      object?.type === "MemberExpression" && memberName(object) === "queue" && /^next(Batch)?$/.test(method);
    if (!isReceive && !OPERATIONS.has(method)) return undefined;
    const context = this.contextOf(isReceive ? object.object : object);
    if (!context) return undefined;
    const [first] = call.arguments ?? [];
    const nameNode = first?.type === "ObjectExpression" ? propertyOf(first, "name") : first;
    const name = constantText(nameNode);
    return { method: isReceive ? `queue.${method}` : method, call, ...context, nameNode, name };
  }

  /** The context that an expression is, and the function that was given it. */
  contextOf(node: Node | undefined): { readonly context: Variable; readonly scope: Node } | undefined {
    const identifier = unwrap(node);
    if (identifier?.type !== "Identifier") return undefined;
    const context = variableOf(this.#source, identifier);
    const scope = context && this.#scopeOf(context);
    return scope && { context, scope };
  }

  #scopeOf(variable: Variable): Node | undefined {
    if (this.#contexts.has(variable)) return this.#contexts.get(variable);
    this.#contexts.set(variable, undefined);
    const [def] = variable.defs;
    const given =
      def?.type === "Parameter" && isFunction(def.node) && def.node.params?.[0] === def.name ? def.node : undefined;
    const role = given && this.roleOf(given);
    const other = given ? undefined : constantValue(variable);
    const scope = role && role !== "step" ? given : other && this.contextOf(other)?.scope;
    this.#contexts.set(variable, scope);
    return scope;
  }

  /** Where a function stands as a value: itself, and each mention of the constant that holds it. */
  #usesOf(fn: Node): Node[] {
    const holder = fn.type === "FunctionDeclaration" ? fn : wrapped(fn).parent;
    const name = holder === fn || holder?.type === "VariableDeclarator" ? holder.id : undefined;
    if (name?.type !== "Identifier") return [wrapped(fn)];
    const variable = variableOf(this.#source, name);
    if (!variable || constantValue(variable) !== fn) return [];
    return variable.references.filter((each) => each.isRead()).map((each) => wrapped(each.identifier));
  }

  #roleAt(use: Node): Role | undefined {
    const parent = use.parent;
    if (parent?.type === "CallExpression") {
      const at = parent.arguments?.indexOf(use);
      if (at === 0 && this.#isWorkflow(parent.callee)) return "workflow";
      return at === 1 ? ROLES[this.operationOf(parent)?.method ?? ""] : undefined;
    }
    if (parent?.type !== "Property" || parent.value !== use) return undefined;
    const key = memberName(parent);
    if (key !== "run" && key !== "rollback") return undefined;
    const config = wrapped(parent.parent as Node);
    const call = config.parent;
    if (call?.type === "CallExpression" && call.arguments?.[0] === config) {
      const role = ROLES[this.operationOf(call)?.method ?? ""];
      return role === "step" || key === "run" ? role : undefined;
    }
    return key === "run" && this.#isBranch(config) ? "branch" : undefined;
  }

  /** Whether an object is a branch of a join or race, be it made by a `map`. */
  #isBranch(config: Node): boolean {
    for (let node = config; node.parent && !node.type.endsWith("Declaration"); node = node.parent) {
      if (node.parent.type !== "CallExpression" || node.parent.arguments?.[1] !== node) continue;
      const method = this.operationOf(node.parent)?.method;
      if (method !== undefined) return method === "join" || method === "race";
    }
    return false;
  }

  /** Whether a callee is `workflow` of the package, under whatever name it was imported. */
  #isWorkflow(node: Node | undefined): boolean {
    const callee = unwrap(node);
    const isMember = callee?.type === "MemberExpression";
    const identifier = isMember ? unwrap(callee.object) : callee;
    if (identifier?.type !== "Identifier") return false;
    const [def] = variableOf(this.#source, identifier)?.defs ?? [];
    if (def?.type !== "ImportBinding" || !PACKAGES.has(String(def.parent?.source?.value))) return false;
    if (isMember) return def.node.type === "ImportNamespaceSpecifier" && memberName(callee) === "workflow";
    return (def.node.imported?.name ?? def.node.imported?.value) === "workflow";
  }
}

/** The value of a property of an object that is written out. */
export function propertyOf(object: Node, name: string): Node | undefined {
  return object.properties?.find((each) => each.type === "Property" && memberName(each) === name)?.value as
    | Node
    | undefined;
}

/** Whether the code around a function calls it while it runs itself. */
export function isCalledAtOnce(fn: Node): boolean {
  const use = wrapped(fn);
  const parent = use.parent;
  if (parent?.type === "NewExpression") return unwrap(parent.callee)?.name === "Promise";
  if (parent?.type !== "CallExpression") return false;
  if (parent.callee === use) return true;
  const callee = unwrap(parent.callee);
  return callee?.type === "MemberExpression" && CALL_AT_ONCE.test(memberName(callee) ?? "");
}
