/** Random programs of statements: the live state, the stored state and the plain JavaScript result are equal. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeValue, encodeValue } from "../../../src/protocol/index.js";
import { StateSubject } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- anything that a state can hold
type Any = any;

const FIRST = (): Any => ({
  list: [{ id: 1 }, { id: 2, tags: ["a"] }, 3],
  box: { inner: { n: 1 }, text: "x" },
  map: new Map<Any, Any>([
    ["k", { v: [1] }],
    ["l", 2],
  ]),
  set: new Set<Any>(["s", 1]),
  at: new Date(5),
});

/** The ingredients of one statement. Its effect depends on the container it is applied to. */
interface Statement {
  readonly op: number;
  /** Picks a container of the state. */
  readonly at: number;
  readonly key: number;
  readonly count: number;
  readonly value: ValueSpec;
}
type ValueSpec =
  | { readonly kind: "plain"; readonly make: number }
  /** A part of the state, which gets one more place. */
  | { readonly kind: "part"; readonly at: number }
  /** Something that user code handed in before. */
  | { readonly kind: "own"; readonly at: number }
  | { readonly kind: "unstorable"; readonly make: number };

const KEYS = ["list", "box", "a", "b", "__proto__", "constructor", "toString", "k", "length"];

/** One side: the state's views, or plain values. */
class Side {
  readonly own: Any[] = [];
  root: Any;

  constructor(root: Any) {
    this.root = root;
  }

  containers(): Any[] {
    const found: Any[] = [];
    const visit = (value: Any, depth: number): void => {
      if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || depth > 12 || found.length > 200)
        return;
      found.push(value);
      for (const member of membersOf(value)) visit(member, depth + 1);
    };
    visit(this.root, 0);
    return found;
  }

  value(spec: ValueSpec): Any {
    switch (spec.kind) {
      case "plain": {
        const made = PLAIN[spec.make % PLAIN.length]?.();
        // Frozen objects are copied each time.
        if (typeof made === "object" && made !== null && Object.isExtensible(made)) this.own.push(made);
        return made;
      }
      case "part": {
        const all = this.containers();
        return all[spec.at % all.length];
      }
      case "own":
        return this.own.length === 0 ? 7 : this.own[spec.at % this.own.length];
      case "unstorable":
        return UNSTORABLE[spec.make % UNSTORABLE.length]?.();
    }
  }
}

const PLAIN: (() => Any)[] = [
  () => 1,
  () => "text",
  () => undefined,
  () => null,
  () => -0,
  () => 12n,
  () => true,
  () => "é".repeat(300),
  () => ({}),
  () => [],
  () => ({ n: 1, deep: { list: [1, { x: 1 }] } }),
  () => [1, [2, { y: 2 }], 3],
  () =>
    new Map<Any, Any>([
      ["m", { z: 1 }],
      [{ key: 1 }, 2],
    ]),
  () => new Set<Any>([{ w: 1 }, "t"]),
  () => new Date(9),
  () => Object.freeze({ frozen: Object.freeze([1]) }),
  () => [, 1, , 2],
  () => JSON.parse('{"__proto__":{"p":1},"constructor":2}'),
];

const UNSTORABLE: (() => Any)[] = [
  () => () => {},
  () => ({ deep: [Symbol("s")] }),
  () => [1, new (class Custom {})()],
  () => new WeakMap(),
  () => Object.defineProperty({}, "x", { get: () => 1, enumerable: true }),
  () => nested(300),
  () => new Map([["k", new Set([() => {}])]]),
];

function nested(levels: number): Any {
  let value: Any = 1;
  for (let i = 0; i < levels; i++) value = [value];
  return value;
}

function membersOf(value: Any): Any[] {
  if (value instanceof Map) return [...value].flat();
  if (value instanceof Set) return [...value];
  if (value instanceof Date) return [];
  return Object.keys(value).map((key) => value[key]);
}

/** Each applies one statement to a container and returns its result. */
const ON_ARRAY: ((list: Any[], s: Statement, v: () => Any) => Any)[] = [
  (l, s, v) => l.push(...Array.from({ length: s.count }, v)),
  (l, _, v) => l.unshift(v()),
  (l) => l.pop(),
  (l) => l.shift(),
  (l, s, v) => l.splice(s.key, s.count, v()),
  (l, s) => l.splice(s.key, s.count),
  (l, s, v) => l.fill(v(), s.key, s.key + s.count),
  (l, s) => l.copyWithin(s.key, s.count),
  (l) => l.reverse(),
  (l) => l.sort(),
  (l) => l.sort((a, b) => (typeof a < typeof b ? -1 : typeof a > typeof b ? 1 : 0)),
  (l, s) => (l.length = s.key),
  (l, s, v) => (l[s.key] = v()),
  (l, s) => delete l[s.key],
  (l, s) => ([l[0], l[s.key]] = [l[s.key], l[0]]),
  (l, s) => l.indexOf(l[s.key]),
  (l, s) => l.push(l[s.key]),
  (l, s) => l.unshift(l.splice(s.key, 1)[0]),
  (l) => Object.assign(l, [5, 6]),
];
const ON_OBJECT: ((object: Any, s: Statement, v: () => Any) => Any)[] = [
  (o, s, v) => write(o, KEYS[s.key] as string, v()),
  (o, s, v) => Object.assign(o, { [`x${s.key}`]: v(), last: 1 }),
  (o, s) => delete o[KEYS[s.key] as string],
  (o, s, v) =>
    Object.defineProperty(o, KEYS[s.key] as string, {
      value: v(),
      writable: true,
      enumerable: true,
      configurable: true,
    }) && undefined,
  (o, s) =>
    (o.text = (Object.hasOwn(o, "text") && typeof o.text === "string" ? o.text : "") + "é".repeat(s.count * 90)),
  (o, s) => Object.hasOwn(o, KEYS[s.key] as string),
];
const ON_MAP: ((map: Map<Any, Any>, s: Statement, v: () => Any) => Any)[] = [
  (m, s, v) => m.set(KEYS[s.key], v()).size,
  (m, _, v) => m.set(v(), 1).size,
  (m, s) => m.delete(KEYS[s.key]),
  (m, s) => m.delete([...m.keys()][s.key]),
  (m) => m.clear(),
  (m, s) => m.has([...m.keys()][s.key]),
];
const ON_SET: ((set: Set<Any>, s: Statement, v: () => Any) => Any)[] = [
  (x, _, v) => x.add(v()).size,
  (x, s) => x.delete([...x][s.key]),
  (x) => x.clear(),
  (x, s) => x.has([...x][s.key]),
];
const ON_DATE: ((date: Date, s: Statement, v: () => Any) => Any)[] = [
  (d, s) => d.setTime(s.key * 1_000.5),
  (d, s) => d.setUTCFullYear(1990 + s.key),
  (d) => d.setTime(Number.NaN),
];

/** Writes an own property whatever its name, as the state does. */
function write(object: Any, key: string, value: Any): void {
  if (key === "__proto__" && !Object.hasOwn(object, key))
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

function run(side: Side, s: Statement): Any {
  const all = side.containers();
  const target = all[s.at % all.length];
  const v = (): Any => side.value(s.value);
  if (Array.isArray(target)) return ON_ARRAY[s.op % ON_ARRAY.length]?.(target, s, v);
  if (target instanceof Map) return ON_MAP[s.op % ON_MAP.length]?.(target, s, v);
  if (target instanceof Set) return ON_SET[s.op % ON_SET.length]?.(target, s, v);
  if (target instanceof Date) return ON_DATE[s.op % ON_DATE.length]?.(target, s, v);
  return ON_OBJECT[s.op % ON_OBJECT.length]?.(target, s, v);
}

const value: fc.Arbitrary<ValueSpec> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("plain" as const), make: fc.nat(PLAIN.length - 1) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("part" as const), at: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("own" as const), at: fc.nat(6) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("unstorable" as const), make: fc.nat(UNSTORABLE.length - 1) }),
  },
);
const statement: fc.Arbitrary<Statement> = fc.record({
  op: fc.nat(40),
  at: fc.nat(20),
  key: fc.nat(8),
  count: fc.nat(4),
  value,
});
/** Each inner array is one callback, followed by a commit. */
const program = fc.array(fc.array(statement, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 5 });

const bytesOf = (of: Any): string => Buffer.from(encodeValue(of)).toString("hex");

/**
 * The result of a statement on a plain value, or its refusal: by the language, or because the state could not be
 * stored.
 */
function attempt(plain: Side, s: Statement): Side | "not_serializable" | "TypeError" {
  const tried = new Side(plain.root);
  tried.own.push(...plain.own);
  const copy = copyGraph({ root: plain.root, own: plain.own });
  const next = new Side(copy.root);
  next.own.push(...copy.own);
  try {
    run(next, s);
  } catch (error) {
    return (error as Error).name as "TypeError";
  }
  try {
    encodeValue(next.root);
    return next;
  } catch {
    return "not_serializable";
  }
}

/** A copy that keeps shared objects shared, which the codec would not. */
function copyGraph<T>(graph: T): T {
  const copies = new Map<Any, Any>();
  const copy = (of: Any): Any => {
    if (typeof of !== "object" || of === null) return of;
    const known = copies.get(of);
    if (known) return known;
    if (of instanceof Date) return remember(of, new Date(of.getTime()));
    if (of instanceof Map) {
      const made = remember(of, new Map());
      for (const [k, v] of of) made.set(copy(k), copy(v));
      return made;
    }
    if (of instanceof Set) {
      const made = remember(of, new Set());
      for (const v of of) made.add(copy(v));
      return made;
    }
    const made: Any = remember(of, Array.isArray(of) ? Array.from({ length: 0 }) : {});
    if (Array.isArray(of)) made.length = of.length;
    for (const key of Object.keys(of))
      Object.defineProperty(made, key, { value: copy(of[key]), writable: true, enumerable: true, configurable: true });
    return made;
  };
  const remember = <C>(of: Any, made: C): C => {
    copies.set(of, made);
    return made;
  };
  return copy(graph);
}

/** After a commit each object is in one place; a shared one has become several. */
function separated(root: Any): Any {
  return decodeValue(encodeValue(root));
}

describe("any program of statements", () => {
  it("leaves the same live and stored as plain JavaScript, and a refused statement changes nothing", async () => {
    let refused = 0;
    let done = 0;
    await fc.assert(
      fc.asyncProperty(program, async (callbacks) => {
        const subject = new StateSubject<Any>(FIRST());
        let plain = new Side(FIRST());
        for (const statements of callbacks) {
          // Holes are stored as `undefined`, and each callback begins with every object in one place.
          plain = new Side(separated(plain.root));
          let wrong: unknown;
          await subject.edit((c) => {
            try {
              check(c);
            } catch (error) {
              wrong = error;
            }
          });
          if (wrong) throw wrong as Error;
          function check(c: { state: Any }): void {
            const live = new Side(c.state);
            for (const s of statements) {
              const next = attempt(plain, s);
              const before = bytesOf(c.state);
              let threw: Any;
              try {
                live.root = c.state;
                run(live, s);
              } catch (error) {
                threw = error;
              }
              if (typeof next === "object") {
                expect(threw, JSON.stringify(s)).toBe(undefined);
                plain = next;
                done += 1;
              } else {
                expect(threw.code ?? threw.name, `${JSON.stringify(s)} ${threw}`).toBe(next);
                refused += 1;
                // Some are several statements, and the first of them stay in effect.
                if (!isOne(live, s)) plain = new Side(separated(c.state));
                else expect(bytesOf(c.state)).toBe(before);
              }
              expect(bytesOf(c.state), JSON.stringify(s)).toBe(bytesOf(plain.root));
              if (typeof next === "string") break;
            }
          }
          expect(bytesOf(subject.stored())).toBe(bytesOf(plain.root));
        }
        expect(bytesOf(await subject.restarted())).toBe(bytesOf(plain.root));
      }),
      {
        numRuns: Number(process.env["RUNS"] ?? 300),
        ...(process.env["SEED"] ? { seed: Number(process.env["SEED"]) } : {}),
      },
    );
    expect(refused).toBeGreaterThan(20);
    expect(done).toBeGreaterThan(300);
  }, 600_000);
});

/** Whether the operation is one statement: assigning several properties, or swapping two, is several. */
function isOne(live: Side, s: Statement): boolean {
  const all = live.containers();
  const target = all[s.at % all.length];
  if (Array.isArray(target)) return ![14, 17, 18].includes(s.op % ON_ARRAY.length);
  if (target instanceof Map || target instanceof Set || target instanceof Date) return true;
  return s.op % ON_OBJECT.length !== 1;
}
