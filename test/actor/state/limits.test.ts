/**
 * Random programs at the size limit: exactly the statements that would exceed it are refused. Connections have the
 * smallest.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { actor, type AnyActorDefinition } from "../../../src/actor/index.js";
import { encodeValue } from "../../../src/protocol/index.js";
import { single, type Single } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- a state of several kinds
type Any = any;

const LIMIT = 8_000;
/**
 * Object headers are counted only when the state is measured: an object that just reached 24 or 256 members may be a
 * byte larger.
 */
const HEADS = 16;

const FIRST = (): Any => ({ text: "", list: [], map: new Map(), object: {} });
const STATEMENTS: ((state: Any, n: number, text: string) => unknown)[] = [
  (s, _, text) => (s.text = text),
  (s, _, text) => (s.text += text),
  (s, n, text) => s.list.push({ n, text }, n),
  (s, n, text) => s.list.unshift(text, [n]),
  (s) => s.list.shift(),
  (s, n) => s.list.splice(n % 7, n % 3, "replaced"),
  (s, n) => (s.list.length = n % 40),
  (s, n) => s.list.fill(n * 1_000, 0, n % 9),
  (s, n, text) => s.map.set(`k${n % 9}`, text),
  (s, n) => s.map.delete(`k${n % 9}`),
  (s, n, text) => (s.object[`k${n % 30}`] = { deep: [text] }),
  (s, n, text) => (s.object[`t${n % 9}`] = text),
  (s, n) => delete s.object[`k${n % 30}`],
  (s, n) => (s.list[n % 5] = s.object),
  (s, n) => s.map.set(`o${n % 3}`, s.list),
  (s, n) => (s.list = s.list.slice(n % 4)),
];
const statement = fc.record({
  op: fc.nat(STATEMENTS.length - 1),
  n: fc.nat(3_000),
  length: fc.nat(1_800),
  character: fc.constantFrom("x", "é", "日", "\ud800"),
});

it("refuses exactly the statement that passes the limit, in any program, and is stored as plain JavaScript has it", async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(statement, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 }),
      async (callbacks) => {
        let body: (state: Any) => void = () => {};
        const one: Single = single(
          actor({
            state: {},
            createConnState: FIRST,
            actions: { run: (c: Any) => body(c.conn.state), get: (c: Any) => c.conn.state },
          } as never) as AnyActorDefinition,
        );
        const socket = await one.subject.connect();
        let call = 0;
        for (const statements of callbacks) {
          let wrong: unknown;
          body = (state) => {
            try {
              for (const { op, n, length, character } of statements) {
                const before = encodeValue(state);
                // The model is a plain copy of the state with the statement applied.
                const plain = structuredCloneOf(state);
                const text = character.repeat(length);
                const run = STATEMENTS[op] as (typeof STATEMENTS)[number];
                run(plain, n, text);
                const size = encodeValue(plain, { limitBytes: 1e8 }).length;
                let code = "";
                try {
                  run(state, n, text);
                } catch (error) {
                  code = (error as Any).code;
                }
                if (code === "too_large") {
                  refused += 1;
                  expect(size).toBeGreaterThan(LIMIT);
                  expect(encodeValue(state)).toEqual(before);
                } else {
                  expect(code).toBe("");
                  expect(size <= LIMIT + HEADS || size <= before.length).toBe(true);
                  expect(encodeValue(state, { limitBytes: 1e8 }).length).toBe(size);
                }
              }
            } catch (error) {
              wrong = error;
            }
          };
          await socket.call(++call, "run");
          if (wrong) throw wrong as Error;
          expect(one.subject.crashes, "every commit holds the state").toBe(0);
        }
      },
    ),
    { numRuns: Number(process.env["RUNS"] ?? 150) },
  );
  expect(refused).toBeGreaterThan(20);
}, 600_000);

/** A plain copy in which objects are shared as they are in the state. */
function structuredCloneOf(state: Any): Any {
  const copies = new Map<Any, Any>();
  const copy = (of: Any): Any => {
    if (typeof of !== "object" || of === null) return of;
    const known = copies.get(of);
    if (known) return known;
    const made: Any = of instanceof Map ? new Map() : Array.isArray(of) ? [] : {};
    copies.set(of, made);
    if (of instanceof Map) for (const [key, value] of of) made.set(key, copy(value));
    else if (Array.isArray(of)) {
      made.length = of.length;
      for (const key of Object.keys(of)) made[key] = copy(of[key as never]);
    } else for (const key of Object.keys(of)) made[key] = copy(of[key]);
    return made;
  };
  return copy(state);
}
