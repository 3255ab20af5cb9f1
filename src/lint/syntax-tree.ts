/**
 * The part of ESLint's API that the rules use: nodes, scopes and what a rule is given. Written down here, since a plugin is
 * loaded by ESLint or by oxlint and imports neither.
 */

/** A node as parsers hand it. Which fields it has follows from `type`; the rules read only these. */
export interface Node {
  readonly type: string;
  readonly parent: Node | null;
  readonly range: readonly [number, number];
  readonly name?: string;
  readonly value?: unknown;
  readonly kind?: string;
  readonly operator?: string;
  readonly computed?: boolean;
  readonly callee?: Node;
  readonly arguments?: readonly Node[];
  readonly object?: Node;
  readonly property?: Node;
  readonly key?: Node;
  readonly expression?: Node | boolean;
  readonly left?: Node;
  readonly argument?: Node | null;
  readonly id?: Node | null;
  readonly init?: Node | null;
  readonly params?: readonly Node[];
  readonly body?: Node | readonly Node[];
  readonly elements?: readonly (Node | null)[];
  readonly properties?: readonly Node[];
  readonly expressions?: readonly Node[];
  readonly quasis?: readonly { readonly value: { readonly cooked: string | null } }[];
  readonly source?: Node;
  readonly imported?: Node;
}

export interface Reference {
  readonly identifier: Node;
  readonly init?: boolean | null;
  readonly resolved: Variable | null;
  isWrite(): boolean;
  isRead(): boolean;
}

export interface Variable {
  readonly name: string;
  readonly scope: Scope;
  readonly references: readonly Reference[];
  readonly defs: readonly {
    readonly type: string;
    /** What declares it: a declarator, a function, an import's specifier. */
    readonly node: Node;
    readonly parent?: Node | null;
    readonly name: Node;
  }[];
}

export interface Scope {
  readonly block: Node;
  readonly upper: Scope | null;
  readonly set: ReadonlyMap<string, Variable>;
  readonly references: readonly Reference[];
}

export interface SourceCode {
  readonly ast: Node;
  readonly scopeManager: { readonly scopes: readonly Scope[] } | null;
  getScope(node: Node): Scope;
  getText(node: Node): string;
}

export interface RuleContext {
  readonly sourceCode: SourceCode;
  report(problem: { readonly node: Node; readonly messageId: string; readonly data?: Record<string, string> }): void;
}

/** A rule with ESLint's API. */
export interface Rule {
  readonly meta: {
    readonly type: "problem";
    readonly docs: { readonly description: string; readonly url: string };
    readonly messages: Record<string, string>;
    readonly schema: [];
  };
  create(context: RuleContext): Record<string, (node: Node) => void>;
}

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
/** What types and parentheses put around an expression. */
const WRAPPERS = new Set([
  "TSAsExpression",
  "TSNonNullExpression",
  "TSSatisfiesExpression",
  "TSTypeAssertion",
  "ChainExpression",
  "ParenthesizedExpression",
]);

export function isFunction(node: Node): boolean {
  return FUNCTIONS.has(node.type);
}

/** The expression within its wrappers. */
export function unwrap(node: Node | null | undefined): Node | undefined {
  let inner = node ?? undefined;
  while (inner && WRAPPERS.has(inner.type)) inner = inner.expression as Node;
  return inner;
}

/** The outermost wrapper of an expression, or the expression. */
export function wrapped(node: Node): Node {
  let outer = node;
  while (outer.parent && WRAPPERS.has(outer.parent.type)) outer = outer.parent;
  return outer;
}

/** The innermost function around a node, not the node itself. */
export function functionAround(node: Node): Node | undefined {
  let around = node.parent;
  while (around && !isFunction(around)) around = around.parent;
  return around ?? undefined;
}

export function isWithin(node: Node, outer: Node): boolean {
  return outer.range[0] <= node.range[0] && node.range[1] <= outer.range[1];
}

/** `name` of `object.name`, or of `{ name: … }`. */
export function memberName(node: Node): string | undefined {
  const key = node.type === "MemberExpression" ? node.property : node.key;
  if (key === undefined) return undefined;
  if (!node.computed && key.type === "Identifier") return key.name;
  return typeof key.value === "string" ? key.value : undefined;
}

/** The text of a string that is written out. */
export function constantText(node: Node | undefined): string | undefined {
  const text = unwrap(node);
  if (typeof text?.value === "string" && text.type === "Literal") return text.value;
  if (text?.type !== "TemplateLiteral" || text.expressions?.length !== 0) return undefined;
  return text.quasis?.[0]?.value.cooked ?? undefined;
}

/** The variable that an identifier means, unless it is a global. */
export function variableOf(source: SourceCode, identifier: Node): Variable | undefined {
  for (let scope: Scope | null = source.getScope(identifier); scope; scope = scope.upper) {
    const variable = scope.set.get(identifier.name as string);
    if (variable) return variable.defs.length > 0 ? variable : undefined;
  }
  return undefined;
}

/** What a `const` is, or undefined for anything that may be something else at another time. */
export function constantValue(variable: Variable): Node | undefined {
  const [def, ...others] = variable.defs;
  if (def === undefined || others.length > 0) return undefined;
  if (def.type === "FunctionName") return def.node;
  const isConst = def.type === "Variable" && def.parent?.kind === "const" && def.name.parent === def.node;
  return isConst ? unwrap(def.node.init) : undefined;
}
