import { expect, it } from "vitest";
import { fieldOf, own, ownField } from "../../src/protocol/index.js";
import { whilePolluted } from "../support/polluted-prototype.js";

it("copies own properties, and inherits none", async () => {
  await whilePolluted(["limit"], 1, async () => {
    const given: { a?: number; limit?: number } = { a: 1 };
    expect([own(given).limit, own(given).a, "limit" in own(given)]).toEqual([undefined, 1, false]);
    expect([own<object>(undefined), own<object>(null)].map((each) => Object.keys(each))).toEqual([[], []]);
    expect([ownField(given, "limit"), ownField(given, "a")]).toEqual([undefined, 1]);
  });
});

it("has __proto__ as data", () => {
  const copy = own(JSON.parse('{"__proto__": {"destroyed": true}}') as { destroyed?: boolean });
  expect([Object.keys(copy), copy.destroyed]).toEqual([["__proto__"], undefined]);
});

it("reads what an object's class has, and not what every object has", async () => {
  class Refused extends Error {
    get code(): string {
      return "refused";
    }
  }
  await whilePolluted(["code", "group"], "poison", async () => {
    expect([
      fieldOf(new Refused("x"), "code"),
      fieldOf(new Refused("x"), "message"),
      fieldOf(new Refused("x"), "group"),
      fieldOf(new Error("x"), "code"),
    ]).toEqual(["refused", "x", undefined, undefined]);
  });
});
