import { describe, expect, it } from "vitest";
import {
  ActorError,
  callerLimits,
  decodeJson,
  decodeRow,
  decodeTaggedCbor,
  decodeValue,
  encodeJson,
  encodeValue,
  wireCodec,
} from "../../src/protocol/index.js";
import { decodePlainCbor, encodePlainCbor } from "../../src/protocol/internal.js";
import { hex, portrait } from "./arbitrary-values.js";

/** The same numbers in every run. */
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** 0 … `count - 1`. */
  roll(count: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * count);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.roll(items.length)] as T;
  }
}

const TAGS = [
  0, 1, 2, 3, 4, 5, 23, 24, 27, 32, 64, 65, 68, 69, 70, 71, 72, 77, 78, 79, 84, 85, 86, 100, 258, 259, 0x5041, 0x5044,
  0x5054, 0x505a, 55_799, 65_535,
];
const NAMES = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "then",
  "length",
  "0",
  "4294967294",
  "$Set",
  "$BigInt",
  "a",
  "",
];

const text = (content: string): number[] => [0x60 + content.length, ...Buffer.from(content, "latin1")];
const tag = (number: number): number[] =>
  number < 24 ? [0xc0 | number] : number < 256 ? [0xd8, number] : [0xd9, number >> 8, number & 0xff];
/** A head of 1 to 9 bytes that claims more than there is. */
const boast = (dice: Dice, major: number): number[] =>
  dice
    .pick([
      [23],
      [24, 255],
      [25, 255, 255],
      [26, 0, 15, 66, 64],
      [26, 255, 255, 255, 255],
      [27, 0, 0, 0, 1, 0, 0, 0, 0],
      [27, 255, 255, 255, 255, 255, 255, 255, 255],
      [28],
      [30],
    ])
    .map((byte, i) => (i === 0 ? (major << 5) | byte : byte));

function leaf(dice: Dice): number[] {
  return dice.pick([
    [0],
    [0x20],
    [0x18, dice.roll(256)],
    [0xf5],
    [0xf6],
    [0xf7],
    [0xfb, 127, 248, 0, 0, 0, 0, 0, dice.roll(256)],
    [0xf9, 124, 0],
    [0x40],
    [0x42, 1, 2],
    text(dice.pick(NAMES)),
    [0x63, 0xed, 0xa0, 0x80],
    [0x62, 0xc3, 0x28],
    [0xff],
    [0xf8, dice.roll(256)],
    [0x1b, 0, 0, 0, 0, 0, 0, 0, 1],
  ]);
}

/** Mostly well-formed items of any kind. */
function item(dice: Dice, depth: number): number[] {
  if (depth <= 0) return leaf(dice);
  const inner = (): number[] => item(dice, depth - 1 - dice.roll(2));
  const many = (count: number, make: () => number[]): number[] => Array.from({ length: count }, make).flat();
  const count = dice.roll(4);
  const name = (): number[] => (dice.roll(8) === 0 ? inner() : text(dice.pick(NAMES)));
  switch (dice.roll(12)) {
    case 0:
      return [0x80 + count, ...many(count, inner)];
    case 1:
      return [0xa0 + count, ...many(count, () => [...name(), ...inner()])];
    case 2:
      return [0x9f, ...many(count, inner), ...(dice.roll(5) === 0 ? [] : [0xff])];
    case 3:
      return [0xbf, ...many(count, () => [...name(), ...inner()]), ...(dice.roll(5) === 0 ? inner() : []), 0xff];
    case 4:
    case 5:
      return [...tag(dice.pick(TAGS)), ...inner()];
    case 6:
      return [
        ...tag(27),
        0x80 + count,
        ...text(dice.pick(["Error", "RegExp", "ActorError", "AggregateError", "UserError", "x"])),
        ...many(Math.max(count - 1, 0), inner),
      ];
    case 7:
      return [...tag(259), 0xa0 + count, ...many(count * 2, inner)];
    case 8:
      return [...tag(258), 0x80 + count, ...many(count, inner)];
    case 9:
      return [0x82, ...text(dice.pick(["$Set", "$BigInt", "$Undefined", "$$x", "$Uint8Array", "$x"])), ...inner()];
    case 10:
      return [...boast(dice, 2 + dice.roll(5)), ...inner()];
    default:
      return leaf(dice);
  }
}

function hostile(dice: Dice): Uint8Array {
  const kind = dice.roll(10);
  if (kind === 0) {
    // Deep nesting: one head, or two alternating, repeated.
    const unit = dice.pick([
      [0x81],
      [0x9f],
      [0xa1, 0],
      [0xbf, 0x60],
      [0xc1],
      [0xd9, 0xd9, 0xf7],
      [...tag(259), 0xa1, 0],
      [...tag(258), 0x81],
      [...tag(27), 0x83, ...text("Error"), 0x60, 0xa1, ...text("cause")],
      [0x82, ...text("$Set"), 0x81],
      [0x82, ...text("$$x")],
    ]);
    return Uint8Array.from([...Array.from({ length: 1 + dice.roll(500) }, () => unit).flat(), ...leaf(dice)]);
  }
  if (kind === 1)
    return Uint8Array.from(Array.from({ length: 1 + dice.roll(30) }, () => boast(dice, 2 + dice.roll(5))).flat());
  const bytes = item(dice, 1 + dice.roll(6));
  if (kind < 4) bytes[dice.roll(bytes.length)] = dice.roll(256);
  if (kind < 6) bytes.length = dice.roll(bytes.length + 1);
  return Uint8Array.from(bytes);
}

/** "invalid" if it throws `encoding/invalid`, else its result; rethrows anything else. */
function outcomeOf(act: () => unknown): { value: unknown } | "invalid" {
  try {
    return { value: act() };
  } catch (error) {
    if (
      ActorError.isActorError(error) &&
      error.group === "encoding" &&
      error.code === "invalid" &&
      error.statusCode === 400
    )
      return "invalid";
    throw error;
  }
}

const shown = (outcome: { value: unknown } | "invalid"): string =>
  outcome === "invalid" ? outcome : portrait(outcome.value);

/** A payload as `bare` carries it: the version, its length, itself. */
function inBare(bytes: Uint8Array): Uint8Array {
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7];
  return Uint8Array.from([4, 0, ...length, ...bytes]);
}

/** PERDURE_LONG makes it 100,000. */
const INPUTS = process.env["PERDURE_LONG"] === undefined ? 10_000 : 100_000;

describe("hostile inputs", () => {
  it(
    "are refused with encoding/invalid, or are a value of the domain, the same in every way of reading",
    () => {
      const dice = new Dice(20_261_130);
      const before = Reflect.ownKeys(Object.prototype).length;
      let refused = 0;
      for (let i = 0; i < INPUTS; i++) {
        const bytes = hostile(dice);
        const copy = Uint8Array.from(bytes);
        const stored = outcomeOf(() => decodeValue(bytes));
        const tagged = outcomeOf(() => decodeTaggedCbor(bytes, callerLimits(0)));
        const inBareMessage = outcomeOf(
          () => wireCodec("bare").queueSendRequest.decode(Uint8Array.from([...inBare(bytes), 0, 0, 0])).body,
        );
        const asRow = outcomeOf(() => decodeRow(bytes));
        const context = hex(copy);
        if (shown(tagged) !== shown(inBareMessage)) expect(shown(inBareMessage), context).toBe(shown(tagged));
        if (shown(stored) !== shown(asRow)) expect(shown(asRow), context).toBe(shown(stored));
        if (stored === "invalid") {
          refused++;
          continue;
        }
        const again = decodeValue(encodePlainCbor(stored.value));
        if (portrait(again) !== portrait(stored.value)) expect(portrait(again), context).toBe(portrait(stored.value));
        // The source bytes may change now.
        const was = portrait(stored.value);
        bytes.fill(0xff);
        if (portrait(stored.value) !== was) expect.fail(`shares memory: ${context}`);
        if (was.includes("NOT PLAIN")) expect.fail(`a foreign prototype: ${context}`);
      }
      expect(Reflect.ownKeys(Object.prototype).length).toBe(before);
      // The generator makes both.
      expect(refused).toBeGreaterThan(INPUTS * 0.3);
      expect(refused).toBeLessThan(INPUTS * 0.9);
    },
    INPUTS * 5,
  );

  it("are refused when they are cut off anywhere", () => {
    const dice = new Dice(7);
    for (let i = 0; i < 2000; i++) {
      const bytes = Uint8Array.from(item(dice, 4));
      if (outcomeOf(() => decodeValue(bytes)) === "invalid") continue;
      for (let end = 0; end < bytes.length; end++)
        expect(
          outcomeOf(() => decodeValue(bytes.subarray(0, end))),
          hex(bytes),
        ).toBe("invalid");
    }
  });

  it("are refused with every tag that is not ours", () => {
    const ours = new Set(TAGS.filter((number) => ![4, 5, 23, 24, 32, 65, 100, 65_535].includes(number)));
    for (let number = 0; number < 65_536; number++) {
      if (ours.has(number)) continue;
      const content = [0, 0x40, 0x60, 0x80, 0xa0][number % 5] as number;
      if (outcomeOf(() => decodeValue(Uint8Array.from([...tag(number), content]))) !== "invalid")
        expect.fail(`tag ${number}`);
    }
  });

  it("in JSON are refused with encoding/invalid, or are a value", () => {
    const dice = new Dice(11);
    const node = (depth: number): string => {
      const inner = (): string => node(depth - 1 - dice.roll(2));
      if (depth <= 0)
        return dice.pick(["1", "1e400", "-0", "null", '"$x"', '"\\ud800"', "true", "01", "{", '"', "nul"]);
      switch (dice.roll(5)) {
        case 0:
          return `[${[inner(), inner()].join(",")}]`;
        case 1:
          return `{${JSON.stringify(dice.pick(NAMES))}:${inner()},${JSON.stringify(dice.pick(NAMES))}:${inner()}}`;
        case 2:
          return `["$${dice.pick(TAGS)}",${inner()}]`;
        case 3:
          return "[".repeat(1 + dice.roll(100)) + inner();
        default:
          return inner();
      }
    };
    let refused = 0;
    for (let i = 0; i < 20_000; i++) {
      const json = node(1 + dice.roll(6));
      const outcome = outcomeOf(() => decodeJson(json, callerLimits(0)));
      if (outcome === "invalid") refused++;
      else
        expect(portrait(decodeJson(encodeJson(outcome.value, { extended: true }))), json).toBe(portrait(outcome.value));
    }
    expect(refused).toBeGreaterThan(2000);
    expect(refused).toBeLessThan(19_000);
  });
});

describe("what takes long to read", () => {
  const sources = (count: number): RegExp[] => Array.from({ length: count }, () => /\p{L}\p{L}\p{L}\p{L}/u);

  it("are regular expressions: a caller sends 4,096 characters of them", () => {
    for (const encoding of ["json", "cbor", "bare"] as const) {
      const { actionRequest } = wireCodec(encoding);
      const send = (args: unknown[]): unknown =>
        actionRequest.decode(actionRequest.encode({ args }, { extended: true })).args;
      expect(send(sources(204))).toHaveLength(204);
      expect(
        outcomeOf(() => send(sources(205))),
        encoding,
      ).toBe("invalid");
    }
    expect(decodeValue(encodeValue(sources(300)))).toHaveLength(300);
  });

  it("are no keys that come again, whichever of them counts", () => {
    const bytes = Uint8Array.from([0xa3, ...text("a"), 1, ...text("b"), 2, ...text("a"), 3]);
    expect(decodePlainCbor(bytes)).toEqual({ a: 3, b: 2 });
    expect(decodeJson('{"a":1,"b":2,"a":3}')).toEqual({ a: 3, b: 2 });
  });
});
