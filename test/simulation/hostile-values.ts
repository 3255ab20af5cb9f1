/** Names that every object inherits, or that stand for its prototype; and ordinary ones. */
export const HOSTILE_IDS = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "prototype",
  "alice",
  "bob",
  "",
  "a.b",
  "then",
] as const;

/** What can be sent and stored, however odd it is. */
export function oddValue(random: () => number): unknown {
  const at = Math.floor(random() * VALUES.length);
  return (VALUES[at] as (random: () => number) => unknown)(random);
}

const VALUES: readonly ((random: () => number) => unknown)[] = [
  () => nested(60),
  () => nested(58, (inner) => ({ inner })),
  () => nested(55, (inner) => new Map([["inner", inner]])),
  () => JSON.parse('{"__proto__": {"destroyed": true}, "constructor": {"prototype": {"status": 1}}}'),
  () => ({ toString: "text", hasOwnProperty: false, then: "later", length: -1 }),
  () => {
    const shared = { list: [1, 2] };
    return { a: shared, b: shared, c: [shared, shared] };
  },
  () => [Number.NaN, -0, Infinity, -Infinity, undefined, null, 2n ** 70n],
  () =>
    new Map<unknown, unknown>([
      ["__proto__", 1],
      [{ a: 1 }, new Set([[]])],
    ]),
  () => new Date(Number.NaN),
  () => new Float64Array([0.5, Number.NaN]).subarray(1),
  () => /a+/gi,
  () => new Error("an error", { cause: new TypeError("its cause") }),
  () => Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`key${at}`, at])),
  () => "x".repeat(2_000),
  (random) => random(),
  () => "",
];

/** So many levels of whatever `wrap` makes. */
export function nested(levels: number, wrap: (inner: unknown) => unknown = (inner) => [inner]): unknown {
  let value: unknown = "inside";
  for (let level = 0; level < levels; level += 1) value = wrap(value);
  return value;
}
