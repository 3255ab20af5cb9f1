// A message from outside whose sender waits for what the workflow replies.
import { message } from "../calls.mjs";
import { figure, quantile, timesOf } from "../measure.mjs";
import { ThinClient } from "../thin-client.mjs";

/** @type {import("../job.mjs").Job} */
export const requestReply = {
  name: "request-reply",
  title: "A request and its reply through the queue",
  run: (bench) =>
    bench.withSides(async (sides) => {
      const count = bench.pick(200, 5);
      const turns = await bench.alternate(sides, async (side) => {
        const client = await new ThinClient(side.port).open();
        const before = side.cpuMs;
        const times = await timesOf(count, () => {
          const { path, body } = message(side, "echo", "one", bench.fresh(), { wait: true });
          return client.post(path, body);
        });
        const cpu = (side.cpuMs - before) / count;
        client.close();
        return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), cpu };
      });
      return [
        figure(turns, "p50", { name: "request and reply, p50", goal: "1.3 ×" }),
        figure(turns, "p99", { name: "request and reply, p99" }),
        figure(turns, "cpu", { name: "request and reply, CPU" }),
      ];
    }),
};
