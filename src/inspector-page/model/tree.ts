/** The history as a tree of rows: operations under the loops, joins and races that hold them. */
import type { InspectedEntry } from "./answers.js";
import { grouped } from "./times.js";

/** A node: an entry, or an iteration or a branch, which have none of their own. */
export interface TreeNode {
  /** The entry's id; of an iteration or branch, its place. */
  readonly id: string;
  readonly label: string;
  readonly what: "entry" | "iteration" | "branch" | "group";
  readonly entry?: InspectedEntry;
  /** Of a branch: how it stands. */
  readonly branchStatus?: string;
  readonly children: TreeNode[];
}

/** A line of the list. */
export interface Row {
  readonly node: TreeNode;
  readonly depth: number;
  /** Undefined if there is nothing below it. */
  readonly isOpen: boolean | undefined;
}

type Place = readonly (string | number)[];

const placeKey = (place: Place): string => JSON.stringify(place);

/** The trees of a history, in the order in which their operations began. */
export function treeOf(entries: readonly InspectedEntry[]): TreeNode[] {
  const roots: TreeNode[] = [];
  const byPlace = new Map<string, TreeNode>();
  // Operations of one place are told by their kinds; the one that holds others is the first.
  const kinds = new Map(entries.map((entry) => [placeKey(entry.location), entry]));
  const undone: TreeNode[] = [];

  const holderOf = (place: Place): TreeNode[] => {
    if (place.length === 0) return roots;
    const key = placeKey(place);
    const known = byPlace.get(key);
    if (known) return known.children;
    const above = holderOf(place.slice(0, -1));
    const name = place.at(-1) ?? "";
    const parent = kinds.get(placeKey(place.slice(0, -1)));
    // A holder may come behind what it holds when its own row is missing: a `try` has none.
    const node: TreeNode = groupAt(key, name, parent);
    byPlace.set(key, node);
    above.push(node);
    return node.children;
  };

  for (const entry of entries) {
    if (entry.kind === "rollback") {
      undone.push({ id: entry.id, label: `undo ${nameOf(entry.location)}`, what: "entry", entry, children: [] });
      continue;
    }
    const siblings = holderOf(entry.location.slice(0, -1));
    const key = placeKey(entry.location);
    const node: TreeNode = { id: entry.id, label: nameOf(entry.location), what: "entry", entry, children: [] };
    if (!byPlace.has(key)) byPlace.set(key, node);
    siblings.push(node);
    for (const { name, status } of entry.branches ?? []) {
      const place = placeKey([...entry.location, name]);
      if (byPlace.has(place)) continue;
      const branch: TreeNode = { id: place, label: name, what: "branch", branchStatus: status, children: [] };
      byPlace.set(place, branch);
      node.children.push(branch);
    }
  }
  if (undone.length > 0) roots.push({ id: "undo", label: "Undoing", what: "group", children: undone });
  return roots;
}

function groupAt(id: string, name: string | number, parent: InspectedEntry | undefined): TreeNode {
  if (typeof name === "number" || parent?.kind === "loop")
    return {
      id,
      label: `iteration ${typeof name === "number" ? grouped(name) : name}`,
      what: "iteration",
      children: [],
    };
  return { id, label: name, what: parent?.branches ? "branch" : "group", children: [] };
}

/** The name of an operation: the last part of its place. */
export function nameOf(location: Place): string {
  return String(location.at(-1) ?? "");
}

/** A place in words: `shopping › 3 › add`. */
export function pathOf(location: Place): string {
  return location.join(" › ");
}

/**
 * The lines of trees: what is folded shows nothing below it. `folds` says what a person has folded or unfolded; otherwise of a
 * loop's iterations only the last is open.
 */
export function rowsOf(roots: readonly TreeNode[], folds: ReadonlyMap<string, boolean>): Row[] {
  const rows: Row[] = [];
  const walk = (nodes: readonly TreeNode[], depth: number): void => {
    nodes.forEach((node, index) => {
      const isLast = index === nodes.length - 1;
      const isOpen =
        node.children.length === 0 ? undefined : (folds.get(node.id) ?? (node.what !== "iteration" || isLast));
      rows.push({ node, depth, isOpen });
      if (isOpen) walk(node.children, depth + 1);
    });
  };
  walk(roots, 0);
  return rows;
}

/** From when to when the operations below a node went; undefined if none has times. What is open ends now. */
export function spanBelow(
  { children }: TreeNode,
  now: number,
): { readonly from: number; readonly to: number } | undefined {
  let [from, to] = [Infinity, -Infinity];
  const include = (time: number | undefined): void => {
    if (time === undefined) return;
    from = Math.min(from, time);
    to = Math.max(to, time);
  };
  for (const child of children) {
    const { startedAt, endedAt, status } = child.entry ?? {};
    include(startedAt);
    if (startedAt !== undefined) include(endedAt ?? (status === "cancelled" ? startedAt : now));
    const below = spanBelow(child, now);
    include(below?.from);
    include(below?.to);
  }
  return from === Infinity ? undefined : { from, to };
}

/** The nodes from a root down to an entry, the entry's included; empty if there is no such entry. */
export function trailTo(roots: readonly TreeNode[], id: string): TreeNode[] {
  for (const node of roots) {
    if (node.id === id) return [node];
    const below = trailTo(node.children, id);
    if (below.length > 0) return [node, ...below];
  }
  return [];
}
