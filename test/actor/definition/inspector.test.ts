import { describe, expect, it } from "vitest";
import { actor } from "../../../src/actor/index.js";

// oxlint-disable-next-line typescript/no-explicit-any -- configurations that the types forbid
const withInspector = (inspector: any) => () => actor({ inspector });
const tab = { id: "my-tab_1", label: "Mine", source: "./tab.html" };

describe("inspector tabs", () => {
  it("may be added and, if built in, hidden", () => {
    for (const inspector of [
      {},
      { tabs: [] },
      { tabs: [tab, { ...tab, id: "b", icon: "star" }, { id: "state", hidden: true }] },
    ])
      expect(withInspector(inspector)).not.toThrow();
  });

  it.each([
    ["no object", 1, /"inspector" must be an object/],
    ["an unknown key", { tab: [] }, /inspector: unknown key "tab"/],
    ["tabs that are no list", { tabs: {} }, /inspector.tabs must be an array/],
    ["a tab that is no object", { tabs: ["state"] }, /must be an object with an id/],
    ["no id", { tabs: [{ label: "x", source: "y" }] }, /id must have only letters/],
    ["an id that no route can have", { tabs: [{ ...tab, id: "a b" }] }, /id must have only letters/],
    ["an id twice", { tabs: [tab, tab] }, /has "my-tab_1" twice/],
    ["the id of a built-in tab", { tabs: [{ ...tab, id: "queue" }] }, /"queue" is built in/],
    ["a tab of one's own that is hidden", { tabs: [{ id: "own", hidden: true }] }, /"own" is not built in/],
    ["no label", { tabs: [{ id: "own", source: "x" }] }, /"own": "label" must be a string/],
    ["no source", { tabs: [{ id: "own", label: "x" }] }, /"own": "source" must be a string/],
    ["an icon that is no text", { tabs: [{ ...tab, icon: 1 }] }, /"icon" must be a string/],
  ])("are refused with %s", (_, inspector, message) => {
    expect(withInspector(inspector)).toThrow(message);
    expect(withInspector(inspector)).toThrow(TypeError);
  });
});
