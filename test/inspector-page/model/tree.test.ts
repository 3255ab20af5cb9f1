import { describe, expect, it } from "vitest";
import { rowsOf, spanBelow, trailTo, treeOf } from "../../../src/inspector-page/internal.js";
import { entryAt } from "./entries.js";

const linesOf = (...args: Parameters<typeof rowsOf>): string[] =>
  rowsOf(...args).map(({ node, depth, isOpen }) => `${"  ".repeat(depth)}${isOpen === false ? "+" : ""}${node.label}`);

describe("a history", () => {
  it("has its operations in order, those of branches below their join", () => {
    const tree = treeOf([
      entryAt(["reserve"]),
      entryAt(["all"], {
        kind: "join",
        branches: [
          { name: "a", status: "completed" },
          { name: "b", status: "pending" },
        ],
      }),
      entryAt(["all", "a", "box"]),
      entryAt(["end"]),
    ]);
    expect(linesOf(tree, new Map())).toEqual(["reserve", "all", "  a", "    box", "  b", "end"]);
  });

  it("folds the iterations of a loop, but the last", () => {
    const entries = [
      entryAt(["poll"], { kind: "loop", iteration: 1_204 }),
      ...[1_202, 1_203, 1_204].map((iteration) => entryAt(["poll", iteration, "ask"])),
    ];
    const tree = treeOf(entries);
    expect(linesOf(tree, new Map())).toEqual([
      "poll",
      "  +iteration 1,202",
      "  +iteration 1,203",
      "  iteration 1,204",
      "    ask",
    ]);
    const first = tree[0]?.children[0]?.id ?? "";
    expect(linesOf(tree, new Map([[first, true]]))).toContain("    ask");
    expect(linesOf(tree, new Map([[tree[0]?.id ?? "", false]]))).toEqual(["+poll"]);
  });

  it("shows what undid a step at its end, under the step's name", () => {
    const reserve = entryAt(["reserve"]);
    const tree = treeOf([reserve, entryAt(["charge"]), entryAt(["reserve"], { kind: "rollback", undoes: reserve.id })]);
    expect(linesOf(tree, new Map())).toEqual(["reserve", "charge", "Undoing", "  undo reserve"]);
  });

  it("shows blocks that have no entry, and branches that their join does not name", () => {
    const tree = treeOf([
      entryAt(["block", "inner"]),
      entryAt(["race"], { kind: "race", branches: [], branchCount: 200 }),
      entryAt(["race", "b150", "work"]),
    ]);
    expect(linesOf(tree, new Map())).toEqual(["block", "  inner", "race", "  b150", "    work"]);
  });

  it("keeps names apart that look alike", () => {
    const tree = treeOf([
      entryAt(["a", "b"]),
      entryAt(["a,b"]),
      entryAt(["loop", 1, "x"]),
      entryAt(["loop", "1", "y"]),
    ]);
    expect(rowsOf(tree, new Map()).map(({ node }) => node.id).length).toBe(
      new Set(rowsOf(tree, new Map()).map(({ node }) => node.id)).size,
    );
  });

  it("knows from when to when an iteration or a branch went", () => {
    const at = (startedAt: number, endedAt?: number) => ({ startedAt, ...(endedAt === undefined ? {} : { endedAt }) });
    const tree = treeOf([
      entryAt(["poll"], { kind: "loop", ...at(10) }),
      entryAt(["poll", 0, "ask"], at(20, 30)),
      entryAt(["poll", 0, "block", "deep"], at(40, 50)),
      entryAt(["poll", 1, "ask"], { ...at(60), status: "pending" }),
      entryAt(["poll", 2, "old"]),
    ]);
    expect(tree[0]?.children.map((node) => spanBelow(node, 99))).toEqual([
      { from: 20, to: 50 },
      { from: 60, to: 99 },
      undefined,
    ]);
  });

  it("finds the way to an entry", () => {
    const deep = entryAt(["poll", 2, "ask"]);
    const tree = treeOf([entryAt(["poll"], { kind: "loop", iteration: 2 }), deep]);
    expect(trailTo(tree, deep.id).map(({ label }) => label)).toEqual(["poll", "iteration 2", "ask"]);
    expect(trailTo(tree, "nothing")).toEqual([]);
  });
});
