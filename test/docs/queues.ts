import { expect } from "vitest";
import { codeOf, Stage, type Claims } from "./stage.js";

const HOUR_MS = 3_600_000;

export const queues: Readonly<Record<string, Claims>> = {
  "cart.ts": {
    "takes messages in the order of their arrival, over both queues, each once, through a crash": async (example) => {
      const cart = new Stage(example).actor("cart");
      await cart.send("add", { item: "tea" });
      cart.crash();
      await cart.send("add", { item: "cup" });
      await cart.send("checkout", { card: "tok_1" });
      await cart.send("add", { item: "too late" });
      expect(await cart.call("getState")).toEqual({ items: ["tea", "cup"], card: "tok_1" });
      expect(cart.queued).toBe(1);
    },
    "waits for nothing billed": async (example) => {
      const stage = new Stage(example);
      const cart = stage.actor("cart");
      await cart.send("add", { item: "tea" });
      const rows = cart.rowsWritten;
      await stage.world.pass(90 * 24 * HOUR_MS);
      expect([cart.rowsWritten - rows, cart.actor.holdsLease, cart.actor.timersHeld]).toEqual([0, false, 0]);
    },
    "refuses a queue that is not declared": async (example) => {
      expect(await codeOf(new Stage(example).actor("cart").send("remove", {}))).toBe("queue/not_declared");
    },
    "refuses a message too many, and one too large": async (example) => {
      const cart = new Stage(example).actor("cart");
      await cart.send("checkout", { card: "tok_1" });
      for (let n = 0; n < 1_000; n += 1)
        await cart.actor.send({ mode: "get" }, { kind: "send", queue: "add", body: new Uint8Array([0xf6]) });
      expect(await codeOf(cart.send("add", { item: "one too many" }))).toBe("queue/full");
      expect(await codeOf(cart.send("add", { item: "x".repeat(65_536) }))).toBe("queue/message_too_large");
    },
  },
  "till.ts": {
    "answers the sender that waits": async (example) => {
      const till = new Stage(example).actor("till");
      expect(await till.ask("sales", { amount: 5 }, 5_000)).toEqual({ status: "completed", response: { receipt: 1 } });
      expect(await till.ask("sales", { amount: 7 }, 5_000)).toEqual({ status: "completed", response: { receipt: 2 } });
      expect(till.queued).toBe(0);
    },
  },
  "digest.ts": {
    "sends one mail for an hour's messages": async (example) => {
      const stage = new Stage(example);
      const digest = stage.actor("digest");
      for (const text of ["a", "b", "c"]) await digest.send("events", { text });
      await stage.world.pass(HOUR_MS);
      await digest.send("events", { text: "d" });
      await stage.world.pass(HOUR_MS);
      expect(await digest.call("getState")).toEqual({ mails: ["a, b, c", "d"] });
    },
  },
};
