import { expect, it } from "vitest";
import {
  ActorError,
  decodeJson,
  decodeTaggedCbor,
  decodeValue,
  encodeJson,
  encodeTaggedCbor,
  encodeValue,
  measure,
} from "../../src/protocol/index.js";
import { hex } from "./arbitrary-values.js";

// Values with proxies that, when read, change other objects, encode, throw, or lie.

let state = 1;
const roll = (count: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * count);
};
const pick = <T>(items: readonly T[]): T => items[roll(items.length)] as T;

let others: object[] = [];

function interfere(): void {
  const other = pick(others);
  switch (roll(6)) {
    case 0:
      if (Array.isArray(other)) other.length = roll(3);
      break;
    case 1:
      if (other instanceof Map) other.set(roll(5), 1);
      else if (other instanceof Set) other.clear();
      else if (Array.isArray(other)) other.push(build(1));
      break;
    case 2:
      for (const key of Object.keys(other)) Reflect.deleteProperty(other, key);
      break;
    case 3:
      encodeValue(others.length);
      break;
    case 4:
      if (other instanceof ArrayBuffer && other.resizable) other.resize(roll(16));
      break;
    default:
      throw new Error("private");
  }
}

const prototypes = [Map, Set, Date, Array, RegExp, Error, Uint8Array, ArrayBuffer, DataView].map(
  ({ prototype }) => prototype as object,
);
const handler: ProxyHandler<object> = {
  get(target, key) {
    if (roll(4) === 0) interfere();
    if (roll(20) === 0)
      return pick<unknown>([() => 1, Symbol("s"), 5, -1, 1e300, "$x", null, undefined, [1], new Map([[1, 2]])]);
    const member: unknown = Reflect.get(target, key, target);
    return typeof member === "function" ? member.bind(target) : member;
  },
  ownKeys: (target) => (roll(15) === 0 ? ["q", "q2"] : Reflect.ownKeys(target)),
  getOwnPropertyDescriptor(target, key) {
    if (roll(15) === 0) interfere();
    return Reflect.getOwnPropertyDescriptor(target, key);
  },
  getPrototypeOf: (target) => (roll(30) === 0 ? pick(prototypes) : Reflect.getPrototypeOf(target)),
};

function build(depth: number): unknown {
  if (depth <= 0) return pick<unknown>([1, -0, "a", "\ud800", "$x", 5n, 2n ** 70n, null, undefined, NaN, /a/g]);
  const some = (): unknown[] => Array.from({ length: roll(4) }, () => build(depth - 1));
  const memory = new ArrayBuffer(8, { maxByteLength: 16 });
  const made = pick<() => object>([
    some,
    () => Object.fromEntries(some().map((item, i) => [`x${i}`, item])),
    () => new Map(some().map((key) => [key, build(depth - 1)])),
    () => new Set(some()),
    () => Object.assign(new Error("m", { cause: build(depth - 1) }), { metadata: build(depth - 1) }),
    () => pick([memory, new Uint8Array(memory), new DataView(memory, 2), new Uint16Array(memory, 2, 2)]),
    () => ["$Set", build(depth - 1)],
    () => new Date(roll(1e6)),
    () => /a/g,
  ])();
  others.push(made, memory);
  return roll(4) === 0 ? new Proxy(made, handler) : made;
}

it("whatever a value does while it is encoded, the bytes can be read, or the error is ours, and nobody else notices", () => {
  const innocent = { a: [1, "é", { b: 2n }], m: new Map([["k", 1]]) };
  const expected = hex(encodeValue(innocent));
  const ways: ((value: unknown) => () => unknown)[] = [
    (value) =>
      (
        (bytes) => () =>
          decodeValue(bytes)
      )(encodeValue(value)),
    (value) =>
      (
        (bytes) => () =>
          decodeTaggedCbor(bytes)
      )(encodeTaggedCbor(value)),
    (value) =>
      (
        (bytes) => () =>
          decodeTaggedCbor(bytes)
      )(encodeTaggedCbor(value, { extended: true })),
    (value) =>
      (
        (text) => () =>
          decodeJson(text)
      )(encodeJson(value, { extended: true })),
    (value) =>
      (
        (size) => () =>
          size
      )(measure(value)),
  ];
  let refused = 0;
  for (let i = 0; i < 4000; i++) {
    others = [];
    const value = build(4);
    for (const write of ways) {
      let read: (() => unknown) | undefined;
      try {
        read = write(value);
      } catch (error) {
        if (!ActorError.isActorError(error) || error.group !== "value") throw error;
        refused++;
      }
      read?.();
    }
    expect(hex(encodeValue(innocent))).toBe(expected);
  }
  expect(refused).toBeGreaterThan(1000);
  expect(refused).toBeLessThan(15_000);
});
