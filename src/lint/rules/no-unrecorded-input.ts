import { documented } from "../documented.js";
import {
  isFunction,
  isWithin,
  memberName,
  unwrap,
  variableOf,
  type Node,
  type Rule,
  type RuleContext,
} from "../syntax-tree.js";
import { WorkflowCode } from "../workflow-code.js";

type Kind = "value" | "call" | "timer";

/** By how they are written: as globals, members of globals, or imports of these modules. */
const CALLS: Readonly<Record<string, Kind>> = {
  Date: "value",
  "Date.now": "value",
  "performance.now": "value",
  "process.hrtime": "value",
  "process.hrtime.bigint": "value",
  "Math.random": "value",
  "crypto.randomUUID": "value",
  "crypto.getRandomValues": "value",
  fetch: "call",
  setTimeout: "timer",
  setInterval: "timer",
  setImmediate: "timer",
  "scheduler.wait": "timer",
};
const CONSTRUCTED: Readonly<Record<string, Kind>> = {
  Date: "value",
  WebSocket: "call",
  EventSource: "call",
  XMLHttpRequest: "call",
};
const IMPORTED: Readonly<Record<string, { readonly names: readonly string[]; readonly kind: Kind }>> = {
  crypto: { names: ["randomUUID", "randomBytes", "randomInt"], kind: "value" },
  timers: { names: ["setTimeout", "setInterval", "setImmediate"], kind: "timer" },
  "timers/promises": { names: ["setTimeout", "setInterval", "setImmediate"], kind: "timer" },
  perf_hooks: { names: ["performance"], kind: "value" },
};
/** Their second argument has names, too. */
const NAMED_WITHIN = new Set(["join", "race"]);
const GLOBAL_OBJECTS = new Set(["globalThis", "window", "self"]);

/** Workflow code runs again from its first line: what it asks the world there must be recorded, or a replay goes another way. */
export const noUnrecordedInput: Rule = {
  meta: documented(
    "no-unrecorded-input",
    "no clock, random value, timer or call to the outside in workflow code outside a step",
    {
      value:
        "{{what}} gives another value when the workflow is replayed, so that its code may go another way: read " +
        "it in a step, whose result is recorded.",
      call: "{{what}} is made again at every replay of the workflow: make it in a step, whose result is recorded.",
      timer:
        "{{what}} is lost when the workflow's actor is evicted: wait with `sleep` of the workflow's context, which is stored.",
    },
  ),
  create: (context) => {
    const check = new Check(context);
    return {
      CallExpression: (node) => check.input(node, CALLS),
      NewExpression: (node) => {
        if (unwrap(node.callee)?.name !== "Date" || node.arguments?.length === 0) check.input(node, CONSTRUCTED);
      },
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

  input(node: Node, inputs: Readonly<Record<string, Kind>>): void {
    const callee = unwrap(node.callee);
    const kind = this.#kindOf(callee, inputs);
    if (callee === undefined || kind === undefined) return;
    const role = this.#code.runsAt(node);
    if (role === undefined || role === "step" || (kind === "value" && this.#isRecorded(node))) return;
    const what = `\`${node.type === "NewExpression" ? "new " : ""}${this.#context.sourceCode.getText(callee)}()\``;
    this.#context.report({ node, messageId: kind, data: { what } });
  }

  #kindOf(callee: Node | undefined, inputs: Readonly<Record<string, Kind>>): Kind | undefined {
    const path = pathOf(callee);
    const [root] = path;
    if (root === undefined) return undefined;
    const [def] = variableOf(this.#context.sourceCode, root.node)?.defs ?? [];
    if (def === undefined) {
      const names = path.map(({ name }) => name);
      const name = (GLOBAL_OBJECTS.has(root.name) ? names.slice(1) : names).join(".");
      return Object.hasOwn(inputs, name) ? inputs[name] : undefined;
    }
    if (def.type !== "ImportBinding") return undefined;
    const from = String(def.parent?.source?.value).replace(/^node:/, "");
    const name = def.node.type === "ImportSpecifier" ? (def.node.imported?.name ?? "") : (path[1]?.name ?? "");
    const imported = Object.hasOwn(IMPORTED, from) ? IMPORTED[from] : undefined;
    return imported?.names.includes(name) ? imported.kind : undefined;
  }

  /**
   * Whether a value reaches nothing but what records it (a sleep's time, a loop's first state) or what has no consequence (a
   * log).
   */
  #isRecorded(input: Node, seen: ReadonlySet<Node> = new Set()): boolean {
    for (let node = input; node.parent && !isFunction(node.parent); node = node.parent) {
      const { parent } = node;
      if (parent.type === "VariableDeclarator") return !seen.has(parent) && this.#isGivenOn(parent, seen);
      if (parent.type !== "CallExpression" || parent.callee === node) continue;
      if (isLog(parent)) return true;
      const operation = this.#code.operationOf(parent);
      if (operation) return !NAMED_WITHIN.has(operation.method) && !isWithin(input, operation.nameNode ?? parent);
    }
    return false;
  }

  /** Whether a variable is used in such places only. */
  #isGivenOn(declarator: Node, seen: ReadonlySet<Node>): boolean {
    const { id } = declarator;
    const variable = id?.type === "Identifier" ? variableOf(this.#context.sourceCode, id) : undefined;
    const uses = variable?.references.filter((each) => !each.init) ?? [];
    const within = new Set([...seen, declarator]);
    return uses.length > 0 && uses.every((use) => !use.isWrite() && this.#isRecorded(use.identifier, within));
  }
}

/** `a.b.c` as its names, with the node of the first. */
function pathOf(node: Node | undefined): { readonly node: Node; readonly name: string }[] {
  const last = unwrap(node);
  if (last?.type === "Identifier") return [{ node: last, name: last.name ?? "" }];
  if (last?.type !== "MemberExpression") return [];
  const before = pathOf(last.object);
  const name = memberName(last);
  return before.length === 0 || name === undefined ? [] : [...before, { node: last, name }];
}

/** `ctx.log.info(…)`, `console.log(…)`, `logger.warn(…)`. */
function isLog(call: Node): boolean {
  const path = pathOf(call.callee).map(({ name }) => name);
  return path.length > 1 && /^(log|logger|console)$/.test(path.at(-2) ?? "");
}
