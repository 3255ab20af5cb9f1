import { describe, expect, it } from "vitest";
import { actor, workflow } from "../../../src/actor/index.js";
import {
  decodeLease,
  encodeLease,
  extendedLease,
  foundLease,
  newLease,
  startFailed,
  type Lease,
} from "../../../src/actor/internal.js";
import { decodeValue } from "../../../src/protocol/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { single, type Single } from "../subject.js";

const NOW = 1_700_000_000_000;

describe("the lease", () => {
  it("is one second ahead at first, and nobody has found it", () => {
    expect(newLease(NOW)).toEqual({ at: NOW + 1_000, found: 0, counter: 0, boots: 0 });
  });

  it("is extended by 2, 4 and 8 seconds, then by 10: by what the work is old and one second", () => {
    let lease = newLease(NOW);
    const gaps: number[] = [];
    for (let extensions = 0; extensions < 6; extensions += 1) {
      const now = lease.at;
      lease = extendedLease(lease, NOW, now);
      gaps.push((lease.at - now) / 1_000);
    }
    expect(gaps).toEqual([2, 4, 8, 10, 10, 10]);
    // An alarm that comes late, because one turn took three seconds; a clock that jumped back.
    expect(extendedLease(newLease(NOW), NOW, NOW + 3_000).at).toBe(NOW + 7_000);
    expect(extendedLease(newLease(NOW), NOW, NOW - 5_000).at).toBe(NOW - 4_000);
  });

  it("that was found keeps its backoff until the work has outlived it, whatever else wakes the object", () => {
    const found = foundLease({ ...newLease(NOW), boots: 3 }, NOW, 5, false);
    expect(found).toMatchObject({ at: NOW + 80_000, boots: 4 });
    expect(extendedLease(found, NOW, NOW + 1_000), "an alarm for something else").toBe(found);
    expect(extendedLease(found, NOW, NOW + 80_000)).toEqual({ ...found, at: NOW + 90_000, boots: 0 });
    expect(extendedLease(found, NOW, NOW + 30_000), "it lives on").toEqual({ ...found, at: NOW + 40_000, boots: 0 });
    // A call has started the object just before the alarm.
    const near = { ...found, at: NOW + 300 };
    expect(extendedLease(near, NOW, NOW + 300)).toEqual({ ...near, at: NOW + 1_600 });
  });

  it("survives its encoding", () => {
    const lease: Lease = { at: NOW, found: 3, counter: 41, boots: 7 };
    expect(decodeLease(encodeLease(lease))).toEqual(lease);
  });

  it("backs off from ten seconds, doubling, to five minutes while boots keep finding it", () => {
    let lease = newLease(NOW);
    const gaps: number[] = [];
    let now = NOW;
    for (let boot = 0; boot < 9; boot += 1) {
      now = lease.at;
      lease = foundLease(lease, now, 0, false);
      gaps.push((lease.at - now) / 1_000);
    }
    expect(gaps).toEqual([10, 20, 40, 80, 160, 300, 300, 300, 300]);
    expect(lease.boots).toBe(9);
    expect(foundLease({ ...lease, boots: 5_000 }, now, 0, false).at - now).toBe(300_000);
  });

  it("counts boots with nothing committed in between, and begins again when something was", () => {
    const first = foundLease(newLease(NOW), NOW, 5, false);
    expect(first).toMatchObject({ found: 1, counter: 5 });
    const second = foundLease(first, NOW, 5, false);
    expect(second).toMatchObject({ found: 2, counter: 5 });
    const third = foundLease(second, NOW, 6, false);
    expect(third, "the counter has moved").toMatchObject({ found: 1, counter: 6, boots: 3 });
  });

  it("keeps its time while the alarm stands before it: a call that boots the object does not put it off", () => {
    const lease = newLease(NOW);
    expect(foundLease(lease, NOW + 300, 0, true).at).toBe(lease.at);
    expect(foundLease(lease, NOW + 300, 0, false).at).toBe(NOW + 10_300);
    expect(foundLease(lease, lease.at, 0, true).at, "it is over").toBe(lease.at + 10_000);
  });

  it("does not count a start that failed by itself as a cut-off, but goes on backing off", () => {
    const found = foundLease(newLease(NOW), NOW, 0, false);
    expect(startFailed(found)).toEqual({ ...found, found: 0 });
    expect(startFailed({ ...found, found: 0 }).found).toBe(0);
  });
});

describe("work that takes hours", () => {
  const parts = (clock: ManualClock): Single =>
    single(
      actor({
        state: { done: 0 },
        run: workflow(async (ctx) => {
          await ctx.loop("parts", async (part) => {
            await part.step("work", async (step) => {
              await clock.delay(7_000);
              step.state.done += 1;
            });
          });
        }),
        actions: { get: (c) => c.state.done },
      }),
      { clock },
    );
  const done = ({ subject }: Single): number =>
    (decodeValue(subject.store.dump().get("s") as Uint8Array) as { done: number }).done;
  const alarmInMs = ({ subject, world }: Single): number =>
    (subject.store.alarmAt ?? Number.POSITIVE_INFINITY) - world.clock.now();

  it("goes on as soon after its tenth deploy as after its first: what lived until its alarm is in no crash loop", async () => {
    const busy = parts(new ManualClock());
    await busy.subject.call("get");
    for (let deploys = 0; deploys < 10; deploys += 1) {
      await busy.world.pass(360_000);
      const before = done(busy);
      expect(alarmInMs(busy), `deploy ${deploys}`).toBeLessThanOrEqual(30_000);
      busy.subject.crash();
      await busy.world.pass(60_000);
      expect(done(busy), `deploy ${deploys}`).toBeGreaterThan(before);
      // Cut off again soon after, for any reason.
      expect(alarmInMs(busy), `after deploy ${deploys}`).toBeLessThanOrEqual(30_000);
    }
  });

  it("has an alarm within 30 s of living on, however many boots in a row were cut off before", async () => {
    const busy = parts(new ManualClock());
    await busy.subject.call("get");
    for (let boots = 0; boots < 7; boots += 1) {
      busy.subject.crash();
      await busy.world.pass(alarmInMs(busy));
    }
    expect(alarmInMs(busy)).toBe(300_000);
    for (let seconds = 0; seconds < 200; seconds += 1) {
      await busy.world.pass(1_000);
      if (seconds >= 30) expect(alarmInMs(busy), `after ${seconds} s`).toBeLessThanOrEqual(30_000);
    }
    // A cut-off is found as soon as usual.
    busy.subject.crash();
    const before = done(busy);
    await busy.world.pass(60_000);
    expect(done(busy)).toBeGreaterThan(before);
  });

  it("leaves no timer behind when it parks before that", async () => {
    const clock = new ManualClock();
    const short = single(
      actor({
        run: workflow(async (ctx) => {
          await ctx.step("short", () => clock.delay(5_000));
          await ctx.queue.next("wait");
        }),
        actions: { get: () => 0 },
      }),
      { clock },
    );
    await short.subject.call("get");
    for (let boots = 0; boots < 7; boots += 1) {
      short.subject.crash();
      await short.world.pass(alarmInMs(short));
    }
    expect(short.subject.holdsLease).toBe(true);
    await short.world.pass(5_000);
    expect(short.subject.holdsLease).toBe(false);
    expect(short.subject.timersHeld).toBe(0);
  });
});
