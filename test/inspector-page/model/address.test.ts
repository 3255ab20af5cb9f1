import { describe, expect, it } from "vitest";
import { addressOf, fragmentOf, isSameActor, keyOfText, textOfKey } from "../../../src/inspector-page/internal.js";

const KEYS = [
  [],
  ["o-1"],
  [""],
  ["a", "b"],
  ['["x"]'],
  ["[1]"],
  ["a&b=#%?/ü☃"],
  [" spaced "],
  ["bob+tag@example.com"],
  ["[]"],
];

describe("an address", () => {
  it.each(KEYS.map((key) => [JSON.stringify(key), key] as const))("comes back from a fragment: %s", (_, key) => {
    const address = { name: "order & co", key, entry: "12" };
    expect(addressOf(`#${fragmentOf(address)}`)).toEqual(address);
  });

  it.each(KEYS.map((key) => [JSON.stringify(key), key] as const))("has a key that a person can write: %s", (_, key) => {
    expect(keyOfText(textOfKey(key))).toEqual(key);
  });

  it("is none without an actor or a key of strings", () => {
    for (const fragment of ["", "#", "#actor=a", "#actor=a&key=x", "#actor=a&key=[1]", "#actor=a&key={}", "#key=[]"])
      expect(addressOf(fragment)).toBeUndefined();
  });

  it("is of the same actor whatever entry it names", () => {
    expect(isSameActor({ name: "a", key: ["1"], entry: "3" }, { name: "a", key: ["1"] })).toBe(true);
    expect(isSameActor({ name: "a", key: ["1"] }, { name: "a", key: ["1", ""] })).toBe(false);
    expect(isSameActor({ name: "a", key: [] }, undefined)).toBe(false);
  });
});
