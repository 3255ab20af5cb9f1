/**
 * Random programs that write through their own references and through views: the state live at the end of a callback is
 * stored.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { encodeValue } from "../../../src/protocol/index.js";
import { StateSubject } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- a state of several kinds
type Any = any;

const write = fc.record({ op: fc.nat(13), on: fc.nat(5), other: fc.nat(5), n: fc.nat(9) });
const OPS: ((own: Any[], state: Any, w: { on: number; other: number; n: number }) => unknown)[] = [
  (own, _, { n }) => own.push({ n, list: [n], map: new Map([["k", { n }]]) }),
  (own, state, { on }) => (state[`s${on}`] = own[on] ?? 1),
  (own, state, { on }) => state.list.push(own[on] ?? 2),
  (own, _, { on, n }) => own[on] && (own[on].text = "x".repeat(n)),
  (own, _, { on, n }) => own[on]?.list.push({ n }),
  (own, _, { on, n }) => own[on]?.map.set(n, { n }),
  // Writes a view through the reference.
  (own, state, { on, other }) => own[on] && (own[on].view = state[`s${other}`]),
  (own, state, { on }) => own[on] && (own[on].listView = state.list[0]),
  // Puts one own object into another; both may be in the state.
  (own, _, { on, other }) => own[on] && own[other] && on !== other && (own[on].other = own[other]),
  (own, _, { on }) => own[on] && delete own[on].other,
  (own, _, { on }) => own[on] && Object.freeze(own[on].list),
  (_, state, { on, n }) => state[`s${on}`]?.map && (state[`s${on}`].seen = n),
  (_, state, { on }) => delete state[`s${on}`],
  (_, state) => state.list.reverse().shift(),
];

it("stores what is live at the end of each callback, or refuses the commit for a cycle", async () => {
  let cycles = 0;
  let stored = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(write, { minLength: 4, maxLength: 24 }), { minLength: 1, maxLength: 4 }),
      async (callbacks) => {
        const subject = new StateSubject<Any>({ list: [{ first: true }] });
        await subject.edit(() => {});
        for (const writes of callbacks) {
          let live: unknown;
          let unexpected: unknown;
          const before = subject.single.subject.crashes;
          await subject
            .edit(({ state }) => {
              const own: Any[] = [];
              for (const w of writes) {
                try {
                  const among = Math.max(own.length, 1);
                  OPS[w.op]?.(own, state, { ...w, on: w.on % among, other: w.other % among });
                } catch (error) {
                  // A cycle, which a view refuses, or an array that its owner froze.
                  if ((error as Any).code !== "not_serializable" && (error as Error).name !== "TypeError")
                    unexpected = error;
                }
              }
              try {
                live = encodeValue(state);
              } catch {
                live = undefined;
              }
            })
            .catch(() => {});
          if (unexpected) throw unexpected as Error;
          if (live === undefined) {
            cycles += 1;
            expect(subject.single.subject.crashes).toBe(before + 1);
          } else {
            stored += 1;
            expect(subject.single.subject.crashes).toBe(before);
            expect(encodeValue(subject.stored())).toEqual(live);
            // It can still be stored.
            await subject.edit(({ state }) => void (state.n = (state.n ?? 0) + 1));
          }
        }
      },
    ),
    { numRuns: Number(process.env["RUNS"] ?? 200) },
  );
  expect(cycles).toBeGreaterThan(0);
  expect(stored).toBeGreaterThan(200);
}, 600_000);
