import { describe, expect, it } from "vitest";
import { formatActorId, parseActorId } from "../../src/protocol/index.js";

const objectId = "0123456789abcdef".repeat(4);
const generation = "fedcba9876543210";

describe("an actor id", () => {
  it("is the object's id and the generation", () => {
    expect(formatActorId(objectId, generation)).toBe(`${objectId}-${generation}`);
    expect(parseActorId(`${objectId}-${generation}`)).toEqual({ objectId, generation });
  });

  it.each([
    "",
    "chat",
    objectId,
    `${objectId}-`,
    `${objectId}-${generation}0`,
    `${objectId.toUpperCase()}-${generation}`,
    `${objectId}-${generation}\n`,
    ` ${objectId}-${generation}`,
    `${objectId.slice(1)}g-${generation}`,
  ])("is not %j", (text) => {
    expect(parseActorId(text)).toBeUndefined();
  });

  it("is made of nothing but hex digits", () => {
    expect(() => formatActorId("x", generation)).toThrow(TypeError);
    expect(() => formatActorId(objectId, "")).toThrow(TypeError);
  });
});
