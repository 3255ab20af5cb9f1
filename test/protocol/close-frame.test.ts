import { expect, it } from "vitest";
import { sendableCloseCode, sendableCloseReason } from "../../src/protocol/index.js";

it("a close carries a code that may be sent, or 1000", () => {
  expect([1000, 1001, 1011, 1014, 3000, 4999].map(sendableCloseCode)).toEqual([1000, 1001, 1011, 1014, 3000, 4999]);
  expect([0, 999, 1004, 1005, 1006, 1015, 2999, 5000, NaN].map(sendableCloseCode)).toEqual(
    Array.from({ length: 9 }, () => 1000),
  );
});

it("a close carries at most 123 bytes of reason, no character cut in two", () => {
  expect(sendableCloseReason("user.no")).toBe("user.no");
  expect(sendableCloseReason("x".repeat(200))).toBe("x".repeat(123));
  for (const [text, characters] of [
    ["é", 61],
    ["€", 41],
    ["😀", 30],
  ] as const)
    expect(sendableCloseReason(text.repeat(200))).toBe(text.repeat(characters));
});
