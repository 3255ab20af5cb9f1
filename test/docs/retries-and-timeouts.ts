import { expect } from "vitest";
import { Stage, type Claims, type ServiceCall } from "./stage.js";

/** What the example does, with the times at which its attempts begin, ms after the first. */
async function charging(example: Parameters<Claims[string]>[0], answers: readonly unknown[], passMs = 120_000) {
  const times: number[] = [];
  const stage = new Stage(example, {
    service: (_call, clock) => {
      times.push(clock.now());
      const answer = answers[times.length - 1] ?? { id: "ch_1" };
      return typeof answer === "function" ? (answer as () => unknown)() : answer;
    },
  });
  const billing = stage.actor("billing");
  await billing.send("charge", { order: "order-1" });
  await stage.world.pass(passMs);
  const first = times[0] ?? 0;
  return { stage, billing, begins: times.map((at) => at - first) };
}

const fails = new Response(null, { status: 503 });
const hangs = (): Promise<never> => new Promise(() => {});

export const retriesAndTimeouts: Readonly<Record<string, Claims>> = {
  "charge.ts": {
    "tries again after 1, 2, 4, 8 and 10 s, and has failed after six attempts": async (example) => {
      const { stage, billing, begins } = await charging(
        example,
        Array.from({ length: 9 }, () => fails),
      );
      expect(begins).toEqual([0, 1_000, 3_000, 7_000, 15_000, 25_000]);
      expect(await billing.call("getStatus")).toMatchObject({
        status: "failed",
        error: { name: "StepExhaustedError" },
      });
      expect(await billing.call("getState")).toEqual({ charges: [] });
      expect(new Set(stage.calls.map(({ headers }) => headers["idempotency-key"]))).toEqual(new Set(["order-1"]));
    },
    "tries again at the time that the service asks for, and after a timeout": async (example) => {
      const busy = new Response(null, { status: 429, headers: { "retry-after": "30" } });
      const { stage, billing, begins } = await charging(example, [busy, hangs, { id: "ch_7" }]);
      expect(begins).toEqual([0, 30_000, 30_000 + 5_000 + 2_000]);
      expect(stage.calls.map((call: ServiceCall) => call.signal.aborted)).toEqual([false, true, false]);
      expect(await billing.call("getState")).toEqual({ charges: ["ch_7"] });
    },
    "ends at once when the card is refused, and goes on after a repair": async (example) => {
      const refused = new Response(null, { status: 402 });
      const { stage, billing, begins } = await charging(example, [refused]);
      expect(begins).toEqual([0]);
      expect(await billing.call("getStatus")).toMatchObject({
        status: "failed",
        error: { name: "CriticalError", message: "The card was refused" },
      });
      await billing.call("recover");
      await stage.world.settle();
      expect([await billing.call("getState"), (await billing.call("getStatus")).status]).toEqual([
        { charges: ["ch_1"] },
        "completed",
      ]);
    },
    "does not begin the delay anew after a crash, and gives the attempt that was cut off its number again": async (
      example,
    ) => {
      const { stage, billing } = await charging(example, [fails], 500);
      billing.crash();
      await stage.world.pass(499);
      expect(stage.calls).toHaveLength(1);
      await stage.world.pass(1);
      expect(stage.calls.map(({ body }) => (body as { attempt: number }).attempt)).toEqual([1, 2]);
    },
  },
  "quote.ts": {
    "takes the live price": async (example) => {
      const stage = new Stage(example, { service: () => ({ price: 40 }) });
      const quote = stage.actor("quote");
      await quote.call("getState");
      expect(await quote.call("getState")).toEqual({ price: 40, source: "live", problem: "" });
      expect(stage.requests).toEqual(["GET prices/live"]);
    },
    "estimates when the live price fails twice": async (example) => {
      const stage = new Stage(example, { service: ({ path }) => (path === "prices/live" ? fails : { price: 30 }) });
      const quote = stage.actor("quote");
      await quote.call("getState");
      await stage.world.pass(1_000);
      expect(await quote.call("getState")).toEqual({ price: 60, source: "estimate", problem: "" });
      expect(stage.requests).toEqual(["GET prices/live", "GET prices/live", "GET prices/parts", "GET prices/labour"]);
    },
    "says what the problem is when all fails": async (example) => {
      const stage = new Stage(example, { service: () => fails });
      const quote = stage.actor("quote");
      await quote.call("getState");
      await stage.world.pass(10_000);
      expect(await quote.call("getState")).toEqual({
        price: 0,
        source: "estimate",
        problem: expect.stringMatching(/parts.*parts answered 503/),
      });
    },
  },
};
