import { describe, expect, it } from "vitest";
import { Pace } from "../../src/workflow/internal.js";

/** A platform of which a yield takes `yieldMs`. Its clock stands still while code runs, as on Cloudflare, or does not. */
class Platform {
  clockStands = true;
  yieldMs = 1;
  yields = 0;
  /** What others wait for in the same event loop. */
  readonly #turns: (() => void)[] = [];
  #now = 1_000;
  #shown = 1_000;

  readonly pace = new Pace({
    now: () => (this.clockStands ? this.#shown : this.#now),
    yield: () => {
      this.yields += 1;
      return new Promise((resolve) => this.#turns.push(resolve));
    },
  });

  /** Operations that compute for so long each, up to the next yield, which is then over; returns their number. */
  async turn(operationMs: number, isReplay = false): Promise<number> {
    for (let operations = 1; ; operations += 1) {
      this.#now += operationMs;
      if (!this.pace.count(isReplay)) continue;
      const yielded = this.pace.yield();
      let isOver = false;
      void yielded.then(() => (isOver = true));
      while (!isOver) await this.others();
      return operations;
    }
  }

  /** All other events have their turn. */
  async others(): Promise<void> {
    this.#now += this.yieldMs;
    this.#shown = this.#now;
    for (const resolve of this.#turns.splice(0)) resolve();
    for (let tick = 0; tick < 8; tick += 1) await undefined;
  }

  async turns(count: number, operationMs: number, isReplay = false): Promise<number[]> {
    const operations = [];
    for (let turn = 0; turn < count; turn += 1) operations.push(await this.turn(operationMs, isReplay));
    return operations;
  }
}

describe.each([
  ["a clock that stands still while code runs", true],
  ["a clock that goes on", false],
])("operations between two yields, by %s (FLOW-12)", (_, clockStands) => {
  const platform = (): Platform => Object.assign(new Platform(), { clockStands });

  it("are 25, then more while they are cheap, up to 100", async () => {
    expect(await platform().turns(6, 0.005)).toEqual([25, 50, 100, 100, 100, 100]);
  });

  it("are up to 1,000 in a replay, whose operations compute less, and 100 again after it", async () => {
    const one = platform();
    expect(await one.turns(8, 0.0005, true)).toEqual([25, 50, 100, 200, 400, 800, 1_000, 1_000]);
    expect(await one.turns(2, 0.005)).toEqual([100, 100]);
    expect(await one.turns(2, 0.005, true)).toEqual([100, 200]);
  });

  it("are half as many in a replay of code that computes long between them", async () => {
    const one = platform();
    expect((await one.turns(8, 0.0005, true)).at(-1)).toBe(1_000);
    expect(await one.turns(7, 1, true)).toEqual([1_000, 500, 250, 125, 62, 31, 25]);
  });

  it("stay as many where they take 5 to 10 ms", async () => {
    expect(await platform().turns(3, 0.25)).toEqual([25, 25, 25]);
  });

  it("are half as many where they take long, down to 25", async () => {
    const one = platform();
    expect((await one.turns(5, 0.005)).at(-1)).toBe(100);
    expect(await one.turns(6, 1)).toEqual([100, 50, 25, 25, 25, 25]);
    expect((await one.turns(5, 0.005)).at(-1)).toBe(100);
  });

  it("are 25 on a busy machine, whose yields take long", async () => {
    const one = Object.assign(platform(), { yieldMs: 40 });
    expect(await one.turns(6, 0.005)).toEqual([25, 25, 25, 25, 25, 25]);
  });
});

describe("a yield", () => {
  it("is one for all that wait for it at a time", async () => {
    const one = new Platform();
    while (!one.pace.count(false));
    const before = one.yields;
    const all = [one.pace.yield(), one.pace.yield(), one.pace.yield()];
    expect(one.yields).toBe(before + 1);
    await one.others();
    await Promise.all(all);
  });
});
