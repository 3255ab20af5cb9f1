import { expect, it } from "vitest";
import { seededRandom } from "../../support/seeded-random.js";
import { StateSubject } from "../subject.js";

interface Part {
  readonly n: number;
}

it("of the containers that an object stands in, the one where it has been longest keeps it, however many those are", async () => {
  const subject = new StateSubject<{ boxes: { part?: Part }[] }>({ boxes: [{}, {}, {}, {}, {}] });
  const random = seededRandom(1);
  let most = 0;
  for (let n = 0; n < 200; n += 1) {
    const oldestFirst: number[] = [];
    let seen: Part | undefined;
    await subject.edit(({ state: { boxes } }) => {
      for (const box of boxes) delete box.part;
      const part = { n };
      for (let statement = 0; statement < 20; statement += 1) {
        const at = Math.floor(random() * boxes.length);
        const box = boxes[at] as { part?: Part };
        if (oldestFirst.includes(at)) {
          delete box.part;
          oldestFirst.splice(oldestFirst.indexOf(at), 1);
        } else {
          box.part = part;
          seen = box.part;
          oldestFirst.push(at);
        }
        most = Math.max(most, oldestFirst.length);
      }
    });
    await subject.edit(({ state: { boxes } }) => {
      expect(boxes.flatMap(({ part }, at) => (part ? [at] : []))).toEqual(oldestFirst.toSorted());
      expect(boxes.flatMap(({ part }, at) => (part && part === seen ? [at] : []))).toEqual(oldestFirst.slice(0, 1));
    });
  }
  expect(most).toBe(5);
});
