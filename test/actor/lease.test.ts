import { describe, expect, it } from "vitest";
import { decodeLease, encodeLease, foundLease, newLease, startFailed, type Lease } from "../../src/actor/index.js";

const NOW = 1_700_000_000_000;

describe("the lease", () => {
  it("is ten seconds ahead at first, and nobody has found it", () => {
    expect(newLease(NOW)).toEqual({ at: NOW + 10_000, found: 0, counter: 0, boots: 0 });
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
    expect(foundLease(lease, NOW + 3_000, 0, true).at).toBe(lease.at);
    expect(foundLease(lease, NOW + 3_000, 0, false).at).toBe(NOW + 13_000);
    expect(foundLease(lease, lease.at, 0, true).at, "it is over").toBe(lease.at + 10_000);
  });

  it("does not count a start that failed by itself as a cut-off, but goes on backing off", () => {
    const found = foundLease(newLease(NOW), NOW, 0, false);
    expect(startFailed(found)).toEqual({ ...found, found: 0 });
    expect(startFailed({ ...found, found: 0 }).found).toBe(0);
  });
});
