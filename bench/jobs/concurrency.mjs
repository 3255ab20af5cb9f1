// Calls of many callers at a time, on one actor and on an actor each; milliseconds a call, of all that the turn took.
import { action } from "../calls.mjs";
import { figure, timed } from "../measure.mjs";
import { ThinClient } from "../thin-client.mjs";

const CALLERS = 32;

/** @type {import("../job.mjs").Job} */
export const concurrency = {
  name: "concurrency",
  title: `${CALLERS} callers at a time, writes`,
  run: (bench) =>
    bench.withSides(async (sides) => {
      const each = bench.pick(30, 2);
      const turns = await bench.alternate(sides, async (side) => {
        const clients = await Promise.all(Array.from({ length: CALLERS }, () => new ThinClient(side.port).open()));
        const perCall = async (/** @type {(caller: number) => string} */ keyOf) => {
          const ms = await timed(() =>
            Promise.all(
              clients.map(async (client, caller) => {
                for (let index = 0; index < each; index += 1) {
                  const { path, body } = action(side, "value", keyOf(caller), "set", bench.fresh());
                  await client.post(path, body);
                }
              }),
            ),
          );
          return ms / (each * CALLERS);
        };
        const turn = { one: await perCall(() => "one"), many: await perCall((caller) => `caller-${caller}`) };
        for (const client of clients) client.close();
        return turn;
      });
      return [
        figure(turns, "one", { name: `${CALLERS} callers on one actor`, goal: "1.2 ×" }),
        figure(turns, "many", { name: `${CALLERS} callers on ${CALLERS} actors`, goal: "1.2 ×" }),
      ];
    }),
};
