/** Changes of random programs, and whether a recorded history must diverge from them, as its entries alone tell. */
import type { PortableEntry } from "../../src/actor/index.js";
import type { Node, Program } from "./programs.js";

const CHANGES = ["rename", "remove", "swap", "insert a step", "insert a gate"] as const;

type Location = readonly (string | number)[];

/** A block of the program: the names that lead to it, `~` for the number of an iteration. */
interface Block {
  readonly at: readonly string[];
  readonly body: Node[];
  /** Of a try block: the operations that must follow it. */
  readonly after: readonly Operation[];
}

interface Operation {
  readonly block: readonly string[];
  readonly name: string;
}

export interface Changed {
  readonly program: Program;
  readonly what: string;
  /** A history that has recorded one of these, where a replay comes by, diverges; any other matches. */
  readonly missed: readonly Operation[];
  /** Nothing before what was changed gives the code a value. */
  readonly isFirst: boolean;
}

/** Undefined if the change cannot be made there, or nobody can tell what comes of it. */
export function changeProgram(program: Program, random: () => number): Changed | undefined {
  const next = structuredClone(program);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const { at, body, after } = pick(blocksOf(next.body as Node[], [], []));
  const index = Math.floor(random() * body.length);
  const node = body[index] as Node;
  const change = pick(CHANGES);
  const here = (nodes: readonly Node[]): Operation[] => operationsOf(nodes, at);
  const of = (missed: readonly Operation[], name = ""): Changed => ({
    program: next,
    what: `${change} ${[...at, name].join("/")}`,
    missed,
    isFirst: at.length === 0 && index === 0,
  });
  switch (change) {
    case "insert a step":
      body.splice(index, 0, NEW_STEP);
      return of([...here(body.slice(index + 1)), ...after]);
    case "insert a gate":
      body.splice(index, 0, { kind: "version", name: "new" });
      return of([]);
    case "swap": {
      const other = body[index + 1];
      if (!other || [node, other].some(({ kind }) => kind === "try" || !isOrdered(kind))) return undefined;
      body.splice(index, 2, other, node);
      return of(here([node]));
    }
    default:
      if (node.kind === "foreign") return undefined;
      body.splice(index, 1, ...(change === "rename" ? [{ ...node, name: `${node.name}-new` }] : []));
      return of(here([node]), node.name);
  }
}

export function mustDiverge(entries: readonly PortableEntry[], { missed }: Changed): boolean {
  const ordered = entries.filter(({ kind }) => kind !== "version_check" && kind !== "branch_results");
  return missed.some(({ block, name }) =>
    enteredAt(entries, block).some((scope) => ordered.some(({ at }) => isAtOrBelow(at, [...scope, name]))),
  );
}

const NEW_STEP: Node = { kind: "step", name: "new", delayMs: 0, failures: 0, ephemeral: false, rollback: false };

/** The scopes of a block that a replay enters: an operation that has ended answers from its entry, and so does a branch. */
function enteredAt(entries: readonly PortableEntry[], block: readonly string[]): Location[] {
  let scope: Location = [];
  for (const name of block) {
    const around = entryAt(entries, scope);
    if (name === "~" && around?.iteration === undefined) return [];
    if (around?.branches && hasEnded(entries, around, name)) return [];
    scope = [...scope, name === "~" ? (around?.iteration as number) : name];
    if (["completed", "failed"].includes(entryAt(entries, scope)?.status ?? "")) return [];
  }
  return [scope];
}

function entryAt(entries: readonly PortableEntry[], location: Location): PortableEntry | undefined {
  return entries.find(({ at }) => at.length === location.length && isAtOrBelow(at, location));
}

function hasEnded(entries: readonly PortableEntry[], parent: PortableEntry, branch: string): boolean {
  const place = parent.branches?.indexOf(branch);
  const rows = entries.filter(({ kind, at }) => kind === "branch_results" && isAtOrBelow(at, parent.at));
  return rows.some(
    ({ at, results }) => at.length === parent.at.length + 1 && results?.some(([each]) => each === place),
  );
}

function isAtOrBelow(at: Location, above: Location): boolean {
  return above.every((segment, index) => at[index] === segment);
}

function isOrdered(kind: Node["kind"]): boolean {
  return kind !== "foreign" && kind !== "version";
}

function operationsOf(nodes: readonly Node[], block: readonly string[]): Operation[] {
  return nodes.flatMap((node) => (node.kind === "foreign" ? [] : [{ block, name: node.name }]));
}

function blocksOf(body: Node[], at: readonly string[], after: readonly Operation[]): Block[] {
  const below = body.flatMap((node, index): Block[] => {
    switch (node.kind) {
      case "join":
      case "race":
        return node.branches.flatMap((branch) => blocksOf(branch.body as Node[], [...at, node.name, branch.name], []));
      case "loop":
        return blocksOf(node.body as Node[], [...at, node.name, "~"], []);
      case "try": {
        const inner = [...at, node.name];
        const end = node.fails ? [{ block: inner, name: "fatal" }] : [];
        return blocksOf(node.body as Node[], inner, [...end, ...operationsOf(body.slice(index + 1), at), ...after]);
      }
      default:
        return [];
    }
  });
  return [{ at, body, after }, ...below];
}
