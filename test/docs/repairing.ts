import { expect } from "vitest";
import { Stage, type Claims } from "./stage.js";

const HOUR_MS = 3_600_000;

export const repairing: Readonly<Record<string, Claims>> = {
  "parcel.ts": {
    "recovers: what was undone is done again, what needs no undoing is not, and nothing is undone twice": async (
      example,
    ) => {
      let isDown = true;
      const stage = new Stage(example, {
        service: () => (isDown ? new Response(null, { status: 503 }) : { id: "parcel-1" }),
      });
      const parcel = stage.actor("parcel");
      await parcel.send("payments", { amount: 20 });
      await stage.world.pass(1_000);
      await parcel.call("retry");
      await stage.world.pass(1_000);
      expect(await parcel.call("getState")).toEqual({
        log: ["reserved", "mailed", "booked 20", "released", "reserved", "released"],
      });
      isDown = false;
      await parcel.call("retry");
      await stage.world.pass(1_000);
      expect(await parcel.call("getStatus")).toMatchObject({ status: "completed" });
      expect(((await parcel.call("getState")) as { log: string[] }).log.slice(6)).toEqual(["reserved", "shipped"]);
    },
    "recovers from a wait that timed out: it waits anew": async (example) => {
      const stage = new Stage(example);
      const parcel = stage.actor("parcel");
      await parcel.call("getState");
      const startedAt = stage.clock.now();
      const until = new Date(startedAt + HOUR_MS).toISOString();
      expect(await parcel.call("getStatus")).toMatchObject({
        status: "running",
        parkedOn: { sentence: `message on payments until ${until}` },
      });
      await stage.world.pass(HOUR_MS);
      expect(await parcel.call("getStatus")).toMatchObject({
        status: "failed",
        startedAt,
        endedAt: startedAt + HOUR_MS,
        error: { message: expect.stringContaining("timed out") },
      });
      await parcel.call("retry");
      await stage.world.pass(HOUR_MS / 2);
      await parcel.send("payments", { amount: 20 });
      await stage.world.pass(1_000);
      expect(await parcel.call("getStatus")).toMatchObject({ status: "completed" });
    },
    "replays from a step on: the payment that was received there is not lost": async (example) => {
      const stage = new Stage(example);
      const parcel = stage.actor("parcel");
      await parcel.send("payments", { amount: 20 });
      await stage.world.pass(1_000);
      await parcel.call("replay", "mail");
      await stage.world.pass(1_000);
      expect(await parcel.call("getState")).toEqual({
        log: ["reserved", "mailed", "booked 20", "shipped", "mailed", "booked 20", "shipped"],
      });
      expect(await parcel.call("getStatus")).toMatchObject({ status: "completed" });
    },
    "a misspelt step, or a wait, is refused: nothing runs again": async (example) => {
      const stage = new Stage(example);
      const parcel = stage.actor("parcel");
      await parcel.send("payments", { amount: 20 });
      await stage.world.pass(1_000);
      for (const name of ["maul", "wait-payment"])
        await expect(parcel.call("replay", name)).rejects.toMatchObject({
          group: "user",
          message: expect.stringContaining(name),
        });
      await stage.world.pass(1_000);
      expect(await parcel.call("getState")).toEqual({ log: ["reserved", "mailed", "booked 20", "shipped"] });
    },
  },
};
