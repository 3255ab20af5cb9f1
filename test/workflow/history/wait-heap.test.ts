import { describe, expect, it } from "vitest";
import { WaitHeap } from "../../../src/workflow/internal.js";
import { seededRandom } from "../../support/seeded-random.js";

describe("a heap of waits", () => {
  it("gives the first by time and then by entry, whatever was added and removed", () => {
    const random = seededRandom(5);
    const heap = new WaitHeap<{ at: number; seq: number }>();
    const list: { at: number; seq: number }[] = [];
    for (let seq = 1; seq <= 5_000; seq += 1) {
      if (list.length === 0 || random() < 0.55) {
        const wait = { at: Math.floor(random() * 100), seq };
        heap.add(wait);
        list.push(wait);
      } else {
        const first = [...list].sort((a, b) => a.at - b.at || a.seq - b.seq)[0];
        const gone = random() < 0.5 ? first : list[Math.floor(random() * list.length)];
        heap.delete(gone as { at: number; seq: number });
        list.splice(list.indexOf(gone as { at: number; seq: number }), 1);
      }
      if (seq % 7 === 0) expect(heap.first).toBe([...list].sort((a, b) => a.at - b.at || a.seq - b.seq)[0]);
    }
    heap.clear();
    expect(heap.first).toBeUndefined();
  });
});
