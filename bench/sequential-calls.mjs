// Calls one after the other: by Node's `fetch`, by the thin client, and the processor's time of workerd for each of those.
import { call } from "./calls.mjs";
import { figure, median, quantile, timesOf } from "./measure.mjs";
import { ThinClient } from "./thin-client.mjs";

/**
 * @param {import("./job.mjs").Bench} bench
 * @param {{
 *   name: string,
 *   count: number,
 *   prepare?: (side: import("./side.mjs").Side) => Promise<unknown>,
 *   make: (side: import("./side.mjs").Side) => import("./calls.mjs").Call,
 *   hasTail?: boolean,
 *   goals?: { fetch?: string, thin?: string, cpu?: string },
 * }} options
 */
export async function sequentialCalls(bench, { name, count, prepare, make, hasTail = false, goals = {} }) {
  return bench.withSides(async (sides) => {
    await Promise.all([prepare?.(sides.bare), prepare?.(sides.perdure)]);
    const turns = await bench.alternate(sides, async (side) => {
      const byFetch = await timesOf(count, () => call(side, make(side)));
      const client = await new ThinClient(side.port).open();
      const before = side.cpuMs;
      const thin = await timesOf(count, () => {
        const { path, body } = make(side);
        return client.post(path, body);
      });
      const cpu = (side.cpuMs - before) / count;
      client.close();
      return { fetch: median(byFetch), thin: median(thin), tail: quantile(thin, 0.99), cpu };
    });
    return [
      figure(turns, "fetch", { name: `${name}, Node's fetch`, ...goal(goals.fetch) }),
      figure(turns, "thin", { name: `${name}, thin client`, ...goal(goals.thin) }),
      ...(hasTail ? [figure(turns, "tail", { name: `${name}, thin client, p99` })] : []),
      figure(turns, "cpu", { name: `${name}, CPU`, ...goal(goals.cpu) }),
    ];
  });
}

/** @param {string | undefined} text */
function goal(text) {
  return text === undefined ? {} : { goal: text };
}
