import { expect, test } from "vitest";
import { ManualClock } from "../../src/testing/index.js";

test("a clock that jumps lets its timers go as long as before, in their order", () => {
  const clock = new ManualClock(1_000);
  const fired: string[] = [];
  clock.setTimer(1_300, () => fired.push("late"));
  clock.setTimer(1_200, () => fired.push("early"));
  clock.jump(-500);
  expect([clock.now(), clock.nextTimerAt()]).toEqual([500, 700]);
  clock.jump(1_000);
  expect([clock.now(), clock.nextTimerAt()]).toEqual([1_500, 1_700]);
  clock.moveTo(1_800);
  while (clock.fireNext());
  expect(fired).toEqual(["early", "late"]);
});
