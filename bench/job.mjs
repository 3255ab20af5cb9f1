// What a job is, and what it is given.
import { alternate } from "./measure.mjs";
import { Side } from "./side.mjs";
import { workerScript } from "./worker-script.mjs";

/**
 * @typedef {import("./measure.mjs").Figure} Figure
 * @typedef {{ bare: Side, perdure: Side }} Sides
 * @typedef {{ name: string, title: string, run: (bench: Bench) => Promise<Figure[]> }} Job
 */

/** How much is to be measured, and by what. */
export class Bench {
  #counter = 0;

  /** @param {{ rounds: number, isQuick: boolean }} options */
  constructor({ rounds, isQuick }) {
    this.rounds = rounds;
    this.isQuick = isQuick;
  }

  /**
   * @param {number} full
   * @param {number} quick enough to see that the job works
   */
  pick(full, quick) {
    return this.isQuick ? quick : full;
  }

  /** Never the same twice: the platform writes a row that does not change without waiting for the disk. */
  fresh() {
    return (this.#counter += 1);
  }

  /**
   * Both sides, each in a process of its own, for as long as `run` takes.
   *
   * @template T
   * @param {(sides: Sides) => Promise<T>} run
   * @param {{ isMinified?: boolean, isStarted?: boolean }} [options]
   */
  async withSides(run, { isMinified = false, isStarted = true } = {}) {
    const sides = {
      bare: new Side("bare", await workerScript("bare", { isMinified })),
      perdure: new Side("perdure", await workerScript("perdure", { isMinified })),
    };
    try {
      if (isStarted) await Promise.all([sides.bare.start(), sides.perdure.start()]);
      return await run(sides);
    } finally {
      await Promise.all([sides.bare.end(), sides.perdure.end()]);
    }
  }

  /**
   * The same turn of both sides, in alternation.
   *
   * @param {Sides} sides
   * @param {(side: Side) => Promise<import("./measure.mjs").Turn>} turn
   */
  alternate({ bare, perdure }, turn) {
    return alternate(this.rounds, this.pick(1, 0), { bare: () => turn(bare), perdure: () => turn(perdure) });
  }
}
