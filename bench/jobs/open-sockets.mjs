// Many sockets to one object: until all are open, and until each has an event that is told to all.
import { action, call } from "../calls.mjs";
import { figure, timed } from "../measure.mjs";
import { SocketClient } from "../socket-client.mjs";

/** @type {import("../job.mjs").Job} */
export const openSockets = {
  name: "open-sockets",
  title: "Many sockets to one object",
  run: (bench) =>
    bench.withSides(async (sides) => {
      const count = bench.pick(1_000, 20);
      const turns = await bench.alternate(sides, async (side) => {
        const key = `turn-${bench.fresh()}`;
        const before = side.cpuMs;
        /** @type {SocketClient[]} */
        let clients = [];
        const open = await timed(async () => {
          clients = await Promise.all(
            Array.from({ length: count }, async () => {
              const client = await new SocketClient(side, key).open();
              client.subscribe();
              return client;
            }),
          );
          // What is asked over the last shows that all before it are served.
          await clients.at(-1)?.call("get");
        });
        const cpu = side.cpuMs - before;
        const tellAll = async () => {
          const all = clients.map((client) => new Promise((resolve) => (client.onEvent = () => resolve(undefined))));
          await Promise.all([call(side, action(side, "room", key, "tell", 1)), ...all]);
        };
        // The first message to a socket costs the platform more than the next; ours has had one when it is open.
        await tellAll();
        const tell = await timed(tellAll);
        await Promise.all(clients.map((client) => client.close()));
        return { open, cpu, tell };
      });
      const sockets = `${count.toLocaleString("en")} sockets`;
      return [
        figure(turns, "open", { name: `open ${sockets}`, goal: "1.2 ×" }),
        figure(turns, "cpu", { name: `open ${sockets}, CPU` }),
        figure(turns, "tell", { name: `an event to ${sockets}` }),
      ];
    }),
};
