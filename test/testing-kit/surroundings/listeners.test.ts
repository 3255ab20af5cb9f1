import { expect, it } from "vitest";
import { actor, event, setup } from "../../../src/entry/index.js";
import { testWorld } from "../../../src/entry/testing.js";

const AT = Date.UTC(2040, 0, 1);

it("listeners are code of whoever added them, the test or an actor, also after a reconnect", async () => {
  const bell = actor({
    events: { rung: event<[at: number]>() },
    actions: { ring: (c) => c.broadcast("rung", Date.now()) },
  });
  const ear = actor({
    actions: {
      listen: async (c) => {
        const bells = c.client<typeof registry>().bell.getOrCreate("b").connect();
        bells.on("rung", () => void fetch("https://api.example.com/heard"));
        await bells.ready;
      },
    },
  });
  const registry = setup({ use: { bell, ear } });
  await using world = await testWorld(registry, { startAt: AT });
  const heard = world.fetch.on("https://api.example.com/heard");
  const received: boolean[] = [];
  const handle = world.client.bell.getOrCreate("b");
  const connection = handle.connect();
  connection.on("rung", (at) => void received.push(at >= AT && Date.now() < AT));
  await connection.ready;
  await world.client.ear.getOrCreate("e").listen();
  await handle.ring();
  await world.idle();
  expect(received, "sent at the world's time, received by the machine's").toEqual([true]);
  expect(heard.calls().map((call) => call.actor)).toEqual(["ear"]);

  world.crash(handle);
  await world.advance("1 minute");
  await handle.ring();
  await world.idle();
  expect(received).toEqual([true, true]);
  expect(heard.calls().map((call) => call.actor)).toEqual(["ear", "ear"]);
});
