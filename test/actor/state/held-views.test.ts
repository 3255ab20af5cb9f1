/** Random programs that keep views of removed parts and put those elsewhere, also into their own members. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { encodeValue } from "../../../src/protocol/index.js";
import { StateSubject } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- a tree of objects
type Any = any;

const FIRST = (): Any => ({
  a: { id: 0, list: [] as Any[], x: { id: 1, list: [{ id: 2, list: [] }] } },
  b: { id: 3, list: [] },
});
const NAMES = ["a", "b", "x", "y"];

const statement = fc.record({ op: fc.nat(6), on: fc.nat(4), other: fc.nat(4), name: fc.nat(3) });
const OPS: ((on: Any, other: Any, name: string, state: Any) => unknown)[] = [
  (on, other, name) => (on[name] = other),
  (on, _, name) => delete on[name],
  (_, other, name, state) => (state[name] = other),
  (_on, _other, name, state) => delete state[name],
  (on, other) => on.list.push(other),
  (on) => on.list.pop(),
  (on, other, name) => (on[name] = { made: [other] }),
];

const hold = (state: Any): Any[] => [state.a, state.a.x, state.a.x.list[0], state.b, state.a.list];
const hexOf = (value: Any): string | undefined => {
  try {
    return Buffer.from(encodeValue(value)).toString("hex");
  } catch {
    return undefined;
  }
};

it("refuses each statement that would make a cycle, and stores what is live", async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(statement, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 3 }),
      async (callbacks) => {
        const subject = new StateSubject<Any>(FIRST());
        const plain = FIRST();
        const [held, plainHeld]: Any[][] = [[], hold(plain)];
        for (const [index, statements] of callbacks.entries()) {
          let live: string | undefined;
          let wrong: unknown;
          await subject.edit(({ state }) => {
            if (index === 0) held?.push(...hold(state));
            for (const { op, on, other, name } of statements) {
              const run = (of: Any, from: Any[]): unknown =>
                OPS[op]?.(Array.isArray(from[on]) ? from[0] : from[on], from[other], NAMES[name] as string, of);
              let isRefused = false;
              try {
                run(state, held as Any[]);
              } catch (error) {
                isRefused = true;
                // The program may have removed the array from the object.
                if ((error as Any).code !== "not_serializable" && !(error instanceof TypeError)) wrong ??= error;
              }
              if (isRefused) refused += 1;
              else if (index === 0) run(plain, plainHeld as Any[]);
              live = hexOf(state);
              wrong ??= live === undefined ? new Error(`cycle after ${JSON.stringify(statements)}`) : undefined;
            }
            // Until the first commit, objects are shared as in plain JavaScript.
            if (index === 0 && live !== hexOf(plain)) wrong ??= new Error("not what plain JavaScript makes of it");
          });
          if (wrong) throw wrong as Error;
          expect(subject.single.subject.crashes).toBe(0);
          expect(hexOf(subject.stored())).toBe(live);
        }
      },
    ),
    { numRuns: Number(process.env["RUNS"] ?? 500), endOnFailure: true },
  );
  expect(refused).toBeGreaterThan(50);
}, 120_000);
