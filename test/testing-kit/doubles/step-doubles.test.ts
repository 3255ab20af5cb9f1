import { expect, it } from "vitest";
import type { StepAttempt } from "../../../src/actor/index.js";
import { StepDoubles } from "../../../src/testing-kit/internal.js";

const order = { name: "order", key: ["o-1"] };

function attemptAt(step: string): StepAttempt {
  return {
    ...order,
    location: [step],
    step: [step],
    attempt: 1,
    isRollback: false,
    abortSignal: new AbortController().signal,
    context: {},
    run: () => new Promise(() => {}),
  } as unknown as StepAttempt;
}

it("takes an attempt to hang only if it never settles by itself: an answer is on its way, and code may run on", async () => {
  const doubles = new StepDoubles(() => ["order"]);
  doubles.of("order", "given").gives(1);
  doubles.of("order", "failed").fails(new Error("502"));
  doubles.of("order", "run").runs(() => new Promise(() => {}));
  doubles.of("order", "hung").hangs();
  const [given, failed] = [doubles.run(attemptAt("given")), doubles.run(attemptAt("failed"))];
  expect(doubles.calls.hangs(order)).toBe(false);
  expect(await given).toBe(1);
  await expect(failed).rejects.toThrow("502");
  expect(doubles.calls.hangs(order)).toBe(false);
  void doubles.run(attemptAt("hung"));
  expect(doubles.calls.hangs(order)).toBe(true);
  void doubles.run(attemptAt("run"));
  expect(doubles.calls.hangs(order)).toBe(false);
});
