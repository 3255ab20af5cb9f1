import { describe, expect, it } from "vitest";
import { History, formatLocation, type Entry, type EntryKind } from "../../../src/workflow/internal.js";

function entry(seq: number, kind: EntryKind, location: (string | number)[], more: Partial<Entry> = {}): Entry {
  return { seq, kind, location, status: "completed", rev: seq, attempts: 0, interrupted: 0, ...more };
}

const names = (history: History, ...scope: (string | number)[]): string[] =>
  history.operationsOf(scope).map(({ kind, name, ordinal }) => `${kind} ${name}${ordinal > 0 ? ` ${ordinal}` : ""}`);

describe("history", () => {
  it("finds entries by location, whatever order they came in", () => {
    const history = new History([
      entry(3, "step", ["j", "a", "s"]),
      entry(1, "join", ["j"]),
      entry(2, "step", ["__proto__"]),
    ]);
    expect(history.find(["j", "a", "s"])?.seq).toBe(3);
    expect(history.find(["__proto__"])?.seq).toBe(2);
    expect(history.find(["j", "a"])).toBeUndefined();
    expect(history.find(["constructor"])).toBeUndefined();
    expect(history.size).toBe(3);
  });

  it("tells numbers from names that look like them", () => {
    const history = new History([
      entry(1, "loop", ["l"]),
      entry(2, "step", ["l", 0, "s"]),
      entry(3, "step", ["l", "0", "s"]),
    ]);
    expect(history.find(["l", 0, "s"])?.seq).toBe(2);
    expect(history.find(["l", "0", "s"])?.seq).toBe(3);
  });

  it("gives a scope's operations in the order in which they were met, repeated receives and try blocks too", () => {
    const history = new History([
      entry(1, "step", ["a"]),
      entry(2, "message", ["m"]),
      entry(3, "step", ["t", "inner"]),
      entry(4, "message", ["m", 1]),
      entry(5, "loop", ["l"]),
      entry(6, "step", ["l", 0, "s"]),
      entry(7, "message", ["m", 2]),
      entry(8, "sleep", ["z"]),
    ]);
    expect(names(history)).toEqual(["step a", "message m", "try t", "message m 1", "loop l", "message m 2", "sleep z"]);
    expect(names(history, "t")).toEqual(["step inner"]);
    expect(names(history, "l", 0)).toEqual(["step s"]);
    expect(names(history, "nothing")).toEqual([]);
  });

  it("takes away a tree and says what was there", () => {
    const history = new History([
      entry(1, "race", ["r"]),
      entry(2, "step", ["r", "a", "s"]),
      entry(3, "sleep", ["r", "b", "t"], { status: "pending", dueAt: 5 }),
    ]);
    expect(history.removeTree(["r", "b"]).map((each) => each.seq)).toEqual([3]);
    expect(history.earliestDueAt()).toBeUndefined();
    expect(history.removeTree(["r", "b"])).toEqual([]);
    expect(history.size).toBe(2);
    expect(history.namesBelow(["r"])).toEqual(["a"]);
  });

  it("knows the earliest deadline that is still waited for", () => {
    const waiting = (seq: number, location: (string | number)[], dueAt: number): Entry =>
      entry(seq, "sleep", location, { status: "pending", dueAt });
    const history = new History([
      entry(1, "join", ["j"], { status: "pending", data: {} }),
      waiting(2, ["j", "a", "s"], 30),
      waiting(3, ["j", "b", "s"], 20),
    ]);
    expect(history.earliestDueAt()).toBe(20);
    history.add(entry(4, "step", ["j", "b", "after"]));
    expect(history.earliestDueAt()).toBe(30);
    const done = history.find(["j", "a", "s"]) as Entry;
    done.status = "completed";
    history.add(done);
    expect(history.earliestDueAt()).toBeUndefined();
  });

  it.each<[string, Entry[], boolean]>([
    ["nothing after it", [entry(1, "sleep", ["s"], { status: "pending" })], false],
    [
      "something after it in its scope",
      [entry(1, "sleep", ["s"], { status: "pending" }), entry(2, "step", ["x"])],
      true,
    ],
    ["something before it", [entry(1, "sleep", ["s"], { status: "pending" }), entry(0, "step", ["x"])], false],
    ["a try block after it", [entry(1, "sleep", ["s"], { status: "pending" }), entry(2, "step", ["t", "x"])], true],
    [
      "a repeated receive of its name after it",
      [entry(1, "message", ["s"], { status: "pending" }), entry(2, "message", ["s", 1])],
      true,
    ],
    [
      "a removed placeholder after it",
      [entry(1, "sleep", ["s"], { status: "pending" }), entry(2, "removed", ["x"])],
      false,
    ],
    ["a gate after it", [entry(1, "sleep", ["s"], { status: "pending" }), entry(2, "version_check", ["x"])], false],
    [
      "a try block after it that holds a gate alone",
      [entry(1, "sleep", ["s"], { status: "pending" }), entry(2, "version_check", ["t", "x"])],
      false,
    ],
    [
      "such a block that has gone further",
      [
        entry(1, "sleep", ["s"], { status: "pending" }),
        entry(2, "version_check", ["t", "x"]),
        entry(3, "step", ["t", "y"]),
      ],
      true,
    ],
    [
      "rows of rollback handlers",
      [entry(1, "sleep", ["s"], { status: "pending" }), entry(2, "step", [-1, "1"])],
      false,
    ],
  ])("has passed a wait with %s", (_, entries, passed) => {
    expect(new History(entries).isPassed(entries[0] as Entry)).toBe(passed);
  });

  it("counts anew when something was taken away: what is left says what was passed, and in which order it stands", () => {
    const sleep = entry(2, "sleep", ["s"], { status: "pending" });
    const history = new History([
      entry(1, "step", ["a"]),
      sleep,
      entry(3, "step", ["t", "x"]),
      entry(4, "message", ["m"]),
      entry(5, "message", ["m", 1]),
      entry(6, "version_check", ["g"]),
    ]);
    expect(names(history)).toEqual(["step a", "sleep s", "try t", "message m", "message m 1", "version_check g"]);
    history.removeTree(["m", 1]);
    history.removeTree(["m"]);
    expect(history.isPassed(sleep)).toBe(true);
    history.removeTree(["t", "x"]);
    expect(history.isPassed(sleep)).toBe(false);
    history.add(entry(7, "step", ["b"]));
    history.add(entry(8, "step", ["t", "x"]));
    expect(history.isPassed(sleep)).toBe(true);
    expect(names(history)).toEqual(["step a", "sleep s", "version_check g", "step b", "try t"]);
  });

  it("holds 140,000 operations of one scope, and as many deadlines", () => {
    const many = Array.from({ length: 140_000 }, (_, index) =>
      entry(index + 1, "step", [`s${index}`], { status: "pending", dueAt: index + 1 }),
    );
    const history = new History([
      ...many,
      entry(140_001, "loop", ["l"]),
      ...many.map((each) => entry(each.seq + 140_001, "step", ["l", each.seq, "x"])),
    ]);
    expect([history.size, history.highestSeq(), history.operationsOf([]).length]).toEqual([280_001, 280_001, 140_001]);
    expect(history.removeTree(["l"])).toHaveLength(140_001);
    expect(history.earliestDueAt()).toBe(140_000);
    expect(history.removeTree([])).toHaveLength(140_000);
  });

  it("has passed a wait in an iteration when the loop is further on, in any branch only when that is over", () => {
    const sleep = entry(2, "sleep", ["l", 3, "s"], { status: "pending" });
    const at = (iteration: number): History =>
      new History([entry(1, "loop", ["l"], { status: "pending", data: { iteration } }), sleep]);
    expect(at(3).isPassed(sleep)).toBe(false);
    expect(at(4).isPassed(sleep)).toBe(true);
    const inBranch = entry(2, "sleep", ["j", "a", "s"], { status: "pending" });
    const other = entry(3, "step", ["j", "b", "x"]);
    expect(new History([entry(1, "join", ["j"], { status: "pending" }), inBranch, other]).isPassed(inBranch)).toBe(
      false,
    );
    expect(new History([entry(1, "join", ["j"]), inBranch, other]).isPassed(inBranch)).toBe(true);
    expect(
      new History([entry(1, "join", ["j"], { status: "pending" }), inBranch, entry(4, "step", ["after"])]).isPassed(
        inBranch,
      ),
    ).toBe(true);
  });

  it("knows which places are in parallel", () => {
    const history = new History([
      entry(1, "join", ["j"]),
      entry(2, "step", ["j", "a", "s"]),
      entry(3, "step", ["j", "b", "s"]),
      entry(4, "loop", ["l"]),
      entry(5, "step", ["l", 0, "s"]),
    ]);
    expect(history.areParallel(["j", "a", "x"], ["j", "b", "y"])).toBe(true);
    expect(history.areParallel(["j", "a", "x"], ["j", "a", "y"])).toBe(false);
    expect(history.areParallel(["j"], ["j", "a", "y"])).toBe(false);
    expect(history.areParallel(["l", 0, "x"], ["l", 1, "y"])).toBe(false);
    expect(history.areParallel(["x"], ["y"])).toBe(false);
  });

  it("knows the highest count that any entry carries", () => {
    expect(new History([]).highestSeq()).toBe(0);
    expect(
      new History([entry(1, "step", ["a"], { rev: 7, completedSeq: 9 }), entry(3, "step", ["b"])]).highestSeq(),
    ).toBe(9);
  });
});

describe("a location as text", () => {
  it.each<[(string | number)[], string]>([
    [[], "(root)"],
    [["a"], "a"],
    [["loop", 3, "step"], "loop/~3/step"],
    [["a/b", "c"], '"a/b"/c'],
    [["~3"], '"~3"'],
    [['say "x"'], '"say \\"x\\""'],
  ])("of %j is %s", (location, text) => {
    expect(formatLocation(location)).toBe(text);
  });

  it("is another for other places", () => {
    const places = [["a/b"], ["a", "b"], ["a", "/b"], ["a/", "b"], ["l", 1], ["l", "1"], ["l", "~1"], ["l/~1"]];
    expect(new Set(places.map((place) => formatLocation(place))).size).toBe(places.length);
  });
});
