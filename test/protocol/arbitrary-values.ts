import * as fc from "fast-check";
import { ActorError, UserError } from "../../src/protocol/index.js";

/** Any string, including lone surrogates, byte order marks and lengths around the encoder's thresholds. */
export const anyString: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 70 }).map((units) => String.fromCharCode(...units)),
  fc
    .tuple(
      fc.constantFrom("a", "é", "€", "😀", "\ud800", "\ufeff"),
      fc.constantFrom(1, 23, 24, 31, 32, 33, 63, 64, 65, 255, 256, 300),
    )
    .map(([unit, count]) => unit.repeat(count)),
);

/** A property name, mostly a troublesome one. */
export const anyKey: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("__proto__", "constructor", "toString", "then", "length", "", "0", "-1", "$x", "$BigInt", "a b", "é"),
  anyString,
);

const anyNumber = fc.oneof(
  fc.constantFrom(
    0,
    -0,
    NaN,
    Infinity,
    -Infinity,
    23,
    24,
    255,
    256,
    65_535,
    65_536,
    2 ** 31,
    2 ** 32 - 1,
    2 ** 32,
    2 ** 53,
    -24,
    -25,
    -256,
    -257,
    -(2 ** 32),
    -(2 ** 32) - 1,
    5e-324,
    0.1,
  ),
  fc.integer(),
  fc.double(),
);

const anyBigint = fc.oneof(
  fc.constantFrom(
    0n,
    -1n,
    2n ** 53n,
    2n ** 64n - 1n,
    2n ** 64n,
    -(2n ** 64n),
    -(2n ** 64n) - 1n,
    10n ** 400n,
    -(10n ** 400n),
  ),
  fc.bigInt(),
);

const anyDate = fc.oneof(
  fc.constantFrom(8.64e15, -8.64e15, 8.64e15 - 1, -8.64e15 + 1, 0, -1, 1, NaN).map((time) => new Date(time)),
  fc.integer({ min: -8.64e15, max: 8.64e15 }).map((time) => new Date(time)),
);

const anyRegExp = fc.constantFrom(/a/, /(?:)/, /[$/]\/"\n/giu, /^\$x$/y, /\p{L}/v, new RegExp("é|/", "dgimsy"));

const anyBuffer = fc.uint8Array({ maxLength: 40 }).map((bytes) => Uint8Array.from(bytes).buffer);

/** A view somewhere in a larger buffer, whose other bytes must not be encoded. */
function placed<T>(
  make: new (buffer: ArrayBuffer, offset: number, length: number) => T,
  width: number,
): fc.Arbitrary<T> {
  return fc
    .tuple(fc.nat({ max: 3 }), fc.nat({ max: 5 }), fc.uint8Array({ minLength: 72, maxLength: 72 }))
    .map(([offset, length, bytes]) => new make(Uint8Array.from(bytes).buffer, offset * width, length));
}

const anyView: fc.Arbitrary<ArrayBufferView> = fc.oneof(
  placed(Uint8Array, 1),
  placed(Uint8ClampedArray, 1),
  placed(Int8Array, 1),
  placed(Uint16Array, 2),
  placed(Int16Array, 2),
  placed(Uint32Array, 4),
  placed(Int32Array, 4),
  placed(Float32Array, 4),
  placed(Float64Array, 8),
  placed(BigUint64Array, 8),
  placed(BigInt64Array, 8),
  placed(DataView, 1),
);

/** Everything that is not a container. */
export const anyLeaf: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, undefined, true, false),
  anyNumber,
  anyString,
  anyBigint,
  anyDate,
  anyRegExp,
  anyBuffer,
  anyView,
);

const makers = [Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError];

function errorOf(inner: fc.Arbitrary<unknown>): fc.Arbitrary<Error> {
  const options = fc.record({ code: inner, metadata: inner, cause: inner }, { requiredKeys: [] });
  return fc.oneof(
    fc
      .tuple(fc.constantFrom(...makers), fc.option(anyKey), anyString, options)
      .map(([make, name, message, { cause, ...rest }]) => {
        const error = Object.assign(cause === undefined ? new make(message) : new make(message, { cause }), rest);
        if (name !== null) Object.defineProperty(error, "name", { value: name, configurable: true, writable: true });
        return error;
      }),
    fc
      .tuple(fc.constantFrom("actor", "queue", "own"), anyKey, anyString, inner, fc.boolean())
      .map(
        ([group, code, message, metadata, isPublic]) =>
          new ActorError(group, code, message, { metadata, public: isPublic, actor: { actorId: "a", generation: 1 } }),
      ),
    fc
      .tuple(anyString, inner)
      .map(([message, metadata]) => new UserError(message, { code: "mine", metadata, cause: metadata })),
    fc
      .tuple(fc.array(inner, { maxLength: 3 }), anyString)
      .map(([errors, message]) => new AggregateError(errors, message)),
  );
}

/** An array that looks like one of the wire's tagged pairs. */
function lookAlike(inner: fc.Arbitrary<unknown>): fc.Arbitrary<unknown[]> {
  const tag = fc.constantFrom(
    "$x",
    "$$x",
    "$",
    "$BigInt",
    "$Set",
    "$Map",
    "$Undefined",
    "$Uint8Array",
    "$Date",
    "$Error",
  );
  return fc.tuple(tag, inner).map(([first, second]) => [first, second]);
}

function recordOf(inner: fc.Arbitrary<unknown>): fc.Arbitrary<Record<string, unknown>> {
  return fc.array(fc.tuple(anyKey, inner), { maxLength: 4 }).map((entries) => {
    const record: Record<string, unknown> = {};
    for (const [key, value] of entries) define(record, key, value);
    return record;
  });
}

function define(record: object, key: string, value: unknown): void {
  Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Any value that the codec supports. Object keys of Maps and items of Sets are distinct objects. */
export const anyValue: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => {
  const inner = tie("value");
  return {
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      anyLeaf,
      fc.array(inner, { maxLength: 4 }),
      recordOf(inner),
      lookAlike(inner),
      fc.array(fc.tuple(inner, inner), { maxLength: 3 }).map((entries) => new Map(entries)),
      fc.array(inner, { maxLength: 4 }).map((items) => new Set(items)),
      lookAlike(inner).map((items) => new Set(items)),
      errorOf(inner),
    ),
  };
}).value;

/** A string that is equal for two values exactly when the codec need not distinguish them. */
export function portrait(value: unknown): string {
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return `[${Array.from(value, portrait).join(", ")}]`;
  if (value instanceof Date) return `Date(${value.getTime()})`;
  if (value instanceof RegExp) return `RegExp(${String(value)})`;
  if (value instanceof Map)
    return `Map{${[...value].map(([key, item]) => `${portrait(key)} => ${portrait(item)}`).join(", ")}}`;
  if (value instanceof Set) return `Set{${[...value].map(portrait).join(", ")}}`;
  if (value instanceof Error) return portraitOfError(value);
  if (value instanceof ArrayBuffer) return `ArrayBuffer(${hex(new Uint8Array(value))})`;
  if (ArrayBuffer.isView(value)) {
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    return `${Object.prototype.toString.call(value).slice(8, -1)}(${hex(bytes)})`;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${portrait(item)}`);
  return `${prototype === Object.prototype || prototype === null ? "" : "NOT PLAIN "}{${entries.join(", ")}}`;
}

function portraitOfError(error: Error): string {
  const kept = ["group", "code", "metadata", "public", "statusCode", "actor", "errors", "__type"] as const;
  const fields = error as unknown as Record<string, unknown>;
  const made = kept
    .filter((field) => fields[field] !== undefined)
    .map((field) => `${field}: ${portrait(fields[field])}`);
  if (Object.hasOwn(error, "cause")) made.push(`cause: ${portrait(error.cause)}`);
  return `Error<${JSON.stringify(error.name)}>(${JSON.stringify(error.message)}; ${made.join(", ")})`;
}

/** Bytes as lower-case hex digits. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The bytes of hex digits; spaces are ignored. */
export function unhex(digits: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(digits.replaceAll(/\s/g, "").match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
