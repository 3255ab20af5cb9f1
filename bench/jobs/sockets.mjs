// Calls over a WebSocket: one at a time, and many in flight.
import { figure, median, timed, timesOf } from "../measure.mjs";
import { SocketClient } from "../socket-client.mjs";

const IN_FLIGHT = 32;

/** @type {import("../job.mjs").Job} */
export const sockets = {
  name: "sockets",
  title: "Calls over a WebSocket",
  run: (bench) =>
    bench.withSides(async (sides) => {
      const count = bench.pick(300, 5);
      const each = bench.pick(60, 1);
      const turns = await bench.alternate(sides, async (side) => {
        const client = await new SocketClient(side, "one").open();
        const before = side.cpuMs;
        const write = median(await timesOf(count, () => client.call("set", bench.fresh())));
        const cpu = (side.cpuMs - before) / count;
        const read = median(await timesOf(count, () => client.call("get")));
        const inFlight = await timed(() =>
          Promise.all(Array.from({ length: IN_FLIGHT }, () => timesOf(each, () => client.call("set", bench.fresh())))),
        );
        await client.close();
        return { write, cpu, read, inFlight: inFlight / (IN_FLIGHT * each) };
      });
      return [
        figure(turns, "write", { name: "write over a socket", goal: "1.1 ×" }),
        figure(turns, "cpu", { name: "write over a socket, CPU" }),
        figure(turns, "inFlight", { name: `write over a socket, ${IN_FLIGHT} in flight`, goal: "1.1 ×" }),
        figure(turns, "read", { name: "read over a socket", goal: "1.1 ×" }),
      ];
    }),
};
