import { afterEach, describe, expect, it, vi } from "vitest";
import { actor, setup } from "../../../src/entry/index.js";
import { testWorld, type TestWorld } from "../../../src/entry/testing.js";
import { workflow } from "../../../src/entry/workflow.js";

const RealDate = Date;
const realTimeout = setTimeout;
const realFetch = fetch;
const AT = RealDate.parse("2030-01-01T00:00:00Z");
const DAY = 86_400_000;

/** Actors whose code a test writes where it needs it. */
function stage(): { registry: ReturnType<typeof registryOf>; run(code: () => unknown): void } {
  let code: () => unknown = () => {};
  return { registry: registryOf(() => code()), run: (given) => void (code = given) };
}
function registryOf(code: () => unknown) {
  const clocked = actor({
    state: { at: new Date(0), seen: [] as number[] },
    run: workflow(async (ctx) => {
      await ctx.step("begin", (step) => void step.state.seen.push(Date.now()));
      await ctx.sleep("a day", DAY);
      await ctx.step("end", (step) => void step.state.seen.push(Date.now()));
    }),
    actions: {
      run: () => code(),
      keep: (c) => {
        c.state.at = new Date();
        return c.state.at.constructor === Date;
      },
      at: (c) => c.state.at,
      seen: (c) => c.state.seen,
    },
  });
  return setup({ use: { clocked } });
}

const worlds: TestWorld[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const world of worlds.splice(0)) await world.end();
});
async function inWorld(code: () => unknown, startAt: number = AT): Promise<unknown> {
  const { registry, run } = stage();
  const world = await testWorld(registry, { startAt });
  worlds.push(world as unknown as TestWorld);
  run(code);
  return world.client.clocked.getOrCreate(["k"]).run();
}

describe("Date in a world", () => {
  it("has the world's present in each of its forms, and other times as ever", async () => {
    expect(
      await inWorld(() => [
        Date.now(),
        new Date().getTime(),
        Date(),
        Reflect.construct(Date, []).getTime(),
        new Date(5).getTime(),
        new Date(2_000, 0, 1).getFullYear(),
        new Date("2001-02-03T00:00:00Z").toISOString(),
        Date.parse("1970-01-01T00:00:01Z"),
        Date.UTC(1970, 0, 2),
      ]),
    ).toEqual([AT, AT, new RealDate(AT).toString(), AT, 5, 2_000, "2001-02-03T00:00:00.000Z", 1_000, DAY]);
  });

  it("makes real dates", async () => {
    class Later extends Date {
      later(): number {
        return this.getTime() + 1;
      }
    }
    const virtual = await inWorld(() => {
      class Own extends Date {
        twice(): number {
          return this.getTime() * 2;
        }
      }
      const date = new Date();
      return [
        date instanceof Date,
        date instanceof RealDate,
        new RealDate() instanceof Date,
        date.constructor === Date,
        Date.prototype === RealDate.prototype,
        Object.prototype.toString.call(date),
        structuredClone(date) instanceof Date,
        Date.length,
        Date.name,
        new Own().twice(),
        new Own() instanceof Own && new Own() instanceof Date,
        new Later(1).later(),
      ];
    });
    expect(virtual).toEqual([true, true, true, true, true, "[object Date]", true, 7, "Date", AT * 2, true, 2]);
  });

  it("is that of the machine for code of the test, also while the world is there", async () => {
    await inWorld(() => undefined);
    expect(Math.abs(Date.now() - RealDate.now())).toBeLessThan(AT / 100);
    expect(Date.now()).toBeLessThan(AT);
    expect(new Date().getTime()).toBeLessThan(AT);
  });

  it("is each world's own, also after a promise of the test has let its code go on", async () => {
    let go: () => void = () => {};
    const gate = new Promise<void>((resolve) => (go = resolve));
    const code = async (): Promise<number[]> => {
      const before = Date.now();
      await gate;
      return [before, Date.now()];
    };
    const [one, other] = [inWorld(code, AT), inWorld(code, AT + DAY)];
    await Promise.resolve();
    go();
    expect([await one, await other]).toEqual([
      [AT, AT],
      [AT + DAY, AT + DAY],
    ]);
  });

  it("passes with the world's time, in steps that an alarm woke", async () => {
    const { registry } = stage();
    await using world = await testWorld(registry, { startAt: AT });
    const clocked = world.client.clocked.getOrCreate(["k"]);
    expect(await clocked.seen()).toEqual([AT]);
    await world.advance("1 day");
    expect(await clocked.seen()).toEqual([AT, AT + DAY]);
  });

  it("is kept in state, and compared by its constructor", async () => {
    const { registry } = stage();
    await using world = await testWorld(registry, { startAt: AT });
    const clocked = world.client.clocked.getOrCreate(["k"]);
    await clocked.keep();
    expect(await clocked.at()).toEqual(new RealDate(AT));
  });

  it("leaves a clock that the test has put in its place alone", async () => {
    expect(
      await inWorld(() => {
        const spy = vi.spyOn(Date, "now").mockReturnValue(7);
        const spied = Date.now();
        spy.mockRestore();
        return [spied, Date.now()];
      }),
    ).toEqual([7, AT]);
  });

  it("is gone with the last world, unless somebody has put another there", async () => {
    const first = await testWorld(stage().registry);
    const second = await testWorld(stage().registry);
    expect(Date).not.toBe(RealDate);
    await first.end();
    await first.end();
    expect(Date).not.toBe(RealDate);
    const own = (() => {}) as unknown as typeof setTimeout;
    globalThis.setTimeout = own;
    await second.end();
    expect([Date, fetch, RealDate.prototype.constructor]).toEqual([RealDate, realFetch, RealDate]);
    expect(setTimeout).toBe(own);
    globalThis.setTimeout = realTimeout;
  });
});
