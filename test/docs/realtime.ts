import { expect } from "vitest";
import { codeOf, Stage, type Claims } from "./stage.js";

// What the page says of clients is shown in test/client/connection.test.ts and test/in-worker/client-connections.test.ts.
export const realtime: Readonly<Record<string, Claims>> = {
  "board.ts": {
    "tells those that listen, and keeps what others read when they come": async (example) => {
      const { world, actor } = new Stage(example).actor("board");
      const ada = await actor.connect();
      await ada.subscribe("noted");
      expect([await actor.call("note", "Buy tea"), await actor.call("note", "Drink it")]).toEqual([1, 2]);
      await world.settle();
      expect(ada.events).toEqual([
        ["noted", 1, "Buy tea"],
        ["noted", 2, "Drink it"],
      ]);
      expect(await actor.call("notes")).toEqual(["Buy tea", "Drink it"]);
    },
    "refuses a token that has expired": async (example) => {
      const { actor } = new Stage(example).actor("board");
      expect(await codeOf(actor.connect({ params: { token: "expired" } }))).toBe("user/signed_out");
      expect((await actor.connect({ params: { token: "good" } })).received[0]?.tag).toBe("Init");
    },
  },
};
