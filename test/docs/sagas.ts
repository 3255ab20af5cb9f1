import { expect } from "vitest";
import { Stage, type Claims, type Service } from "./stage.js";

const HOUR_MS = 3_600_000;
const refused = (): Response => new Response(null, { status: 503 });

/** Books everything but payments; `unwilling` paths are refused too. */
const agency =
  (...unwilling: string[]): Service =>
  ({ method, path }) => {
    if (path === "payments" || unwilling.includes(`${method} ${path}`)) return refused();
    return { id: `${path}-1` };
  };

export const sagas: Readonly<Record<string, Claims>> = {
  "trip.ts": {
    "cancels the hotel, then the flight, when the payment has failed three times": async (example) => {
      const stage = new Stage(example, { service: agency() });
      const trip = stage.actor("trip");
      await trip.call("getState");
      await stage.world.pass(60_000);
      expect(await trip.call("getState")).toEqual({
        done: ["booked flights-1", "booked hotels-1", "cancelled hotels-1", "cancelled flights-1"],
      });
      expect(stage.requests.filter((each) => each === "POST payments")).toHaveLength(3);
      expect(await trip.call("getStatus")).toMatchObject({
        status: "failed",
        error: { message: expect.stringContaining("payments answered 503") },
      });
    },
    "undoes the same wherever it is cut off": async (example) => {
      for (let at = 1; at <= 8; at += 1) {
        const stage = new Stage(example, {
          service: agency(),
          fault: (_actor, commit) => (commit === at ? "crash-before" : undefined),
        });
        const trip = stage.actor("trip");
        await trip.call("getState").catch(() => {});
        await trip.call("getState");
        await stage.world.pass(10 * 60_000);
        const cancelled = stage.requests.filter((each) => each.startsWith("DELETE"));
        expect([...new Set(cancelled)], `crash before commit ${at}`).toEqual([
          "DELETE hotels/hotels-1",
          "DELETE flights/flights-1",
        ]);
        const { done } = (await trip.call("getState")) as { done: string[] };
        expect(done, `crash before commit ${at}`).toEqual([
          "booked flights-1",
          "booked hotels-1",
          "cancelled hotels-1",
          "cancelled flights-1",
        ]);
      }
    },
    "records a cancellation that fails for good, and goes on with the others": async (example) => {
      const stage = new Stage(example, { service: agency("DELETE hotels/hotels-1") });
      const trip = stage.actor("trip");
      await trip.call("getState");
      await stage.world.pass(120_000);
      expect(stage.requests.filter((each) => each.startsWith("DELETE"))).toEqual([
        ...Array(4).fill("DELETE hotels/hotels-1"),
        "DELETE flights/flights-1",
      ]);
      expect((await trip.call("getStatus")).rollbackErrors).toMatchObject([{ stepName: "hotel" }]);
    },
    "undoes nothing when all goes well": async (example) => {
      const stage = new Stage(example, { service: ({ path }) => ({ id: `${path}-1` }) });
      const trip = stage.actor("trip");
      await trip.call("getState");
      expect(await trip.call("getStatus")).toMatchObject({ status: "completed" });
      expect(await trip.call("getState")).toEqual({
        done: ["booked flights-1", "booked hotels-1", "booked payments-1"],
      });
    },
  },
  "purchase.ts": {
    "puts the goods back after a day without a payment": async (example) => {
      const stage = new Stage(example);
      const purchase = stage.actor("purchase");
      await purchase.call("getState");
      await stage.world.pass(23 * HOUR_MS);
      expect(await purchase.call("getState")).toEqual({ held: 1, sold: 0, receipt: "" });
      await stage.world.pass(HOUR_MS);
      expect(await purchase.call("getState")).toEqual({ held: 0, sold: 0, receipt: "" });
      expect(await purchase.call("getStatus")).toMatchObject({
        status: "failed",
        error: { message: "Not paid within a day" },
      });
    },
    "undoes nothing when only the receipt fails": async (example) => {
      const stage = new Stage(example, { service: refused });
      const purchase = stage.actor("purchase");
      await purchase.send("payments", { amount: 20 });
      await stage.world.pass(60_000);
      expect(await purchase.call("getState")).toEqual({ held: 0, sold: 1, receipt: "" });
      expect(await purchase.call("getStatus")).toMatchObject({ status: "completed" });
    },
  },
};
