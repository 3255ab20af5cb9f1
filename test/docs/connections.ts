import { expect } from "vitest";
import { codeOf, Stage, type Claims } from "./stage.js";

export const connections: Readonly<Record<string, Claims>> = {
  "room.ts": {
    "lets in who says who it is, and nobody else": async (example) => {
      const { actor } = new Stage(example).actor("room");
      expect(await codeOf(actor.connect({ params: {} }))).toBe("user/no_name");
      expect((await actor.connect({ params: { name: "ada" } })).received[0]?.tag).toBe("Init");
    },
    "tells those that listen what is said and who is there, over an eviction": async (example) => {
      const { world, actor } = new Stage(example).actor("room");
      const ada = await actor.connect({ params: { name: "ada" } });
      await ada.subscribe("line");
      await ada.subscribe("people");
      await actor.evict();
      const bob = await actor.connect({ params: { name: "bob" } });
      await bob.call(1, "say", "hello");
      await bob.hangUp();
      await world.settle();
      expect(ada.events).toEqual([
        ["people", ["ada", "bob"]],
        ["line", "bob", "hello"],
        ["people", ["ada"]],
      ]);
    },
    "keeps what late comers need": async (example) => {
      const { world, actor } = new Stage(example).actor("room");
      const ada = await actor.connect({ params: { name: "ada" } });
      for (let n = 0; n < 101; n += 1) await ada.call(n, "say", `${n}`);
      await ada.call(101, "lines");
      await world.settle();
      const { val } = ada.received.at(-1) as { val: { output: { text: string }[] } };
      expect([val.output.length, val.output[0]?.text]).toEqual([100, "1"]);
    },
  },
  "report.ts": {
    "tells whoever looks how far it is, and the state says it to late comers": async (example) => {
      const { world, actor } = new Stage(example).actor("report");
      const looker = await actor.connect();
      await looker.subscribe("progress");
      await world.pass(2 * 60_000);
      await actor.evict();
      await world.pass(60_000);
      expect(looker.events).toEqual([
        ["progress", 1],
        ["progress", 2],
        ["progress", 3],
      ]);
      expect(await actor.call("done")).toBe(3);
    },
  },
};
