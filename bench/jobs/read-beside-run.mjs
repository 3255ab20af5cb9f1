// Reads of an actor whose workflow runs a hundred thousand operations meanwhile: fifty thousand iterations with a step each.
// By hand: an object that writes as often, and lets calls in after every 25 iterations.
import { action, call, message } from "../calls.mjs";
import { figure, quantile, timed } from "../measure.mjs";
import { ThinClient } from "../thin-client.mjs";

/** @type {import("../job.mjs").Job} */
export const readBesideRun = {
  name: "read-beside-run",
  title: "A read beside a run of 100,000 operations",
  run: (bench) =>
    bench.withSides(async (sides) => {
      const iterations = bench.pick(50_000, 200);
      /** @type {import("../measure.mjs").Turns} */
      const turns = { bare: [], perdure: [] };
      for (let round = 0; round < bench.pick(Math.min(bench.rounds, 3), 1); round += 1) {
        for (const name of /** @type {const} */ (["bare", "perdure"]))
          turns[name].push(await beside(sides[name], iterations));
      }
      return [
        figure(turns, "p50", { name: "read beside a run, p50" }),
        figure(turns, "p99", { name: "read beside a run, p99" }),
        figure(turns, "most", { name: "read beside a run, the slowest" }),
      ];
    }),
};

/**
 * @param {import("../side.mjs").Side} side
 * @param {number} iterations
 */
async function beside(side, iterations) {
  const client = await new ThinClient(side.port).open();
  const read = action(side, "loops", "one", "get");
  await client.post(read.path, read.body);
  const run = { isOver: false };
  const running = call(
    side,
    side.name === "bare"
      ? action(side, "loops", "one", "iterateBesideCalls", iterations)
      : message(side, "loops", "one", iterations, { wait: true }),
  ).finally(() => (run.isOver = true));
  /** @type {number[]} */
  const times = [];
  while (!run.isOver || times.length === 0) times.push(await timed(() => client.post(read.path, read.body)));
  await running;
  client.close();
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), most: Math.max(...times) };
}
