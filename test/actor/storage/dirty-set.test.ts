import { expect, it } from "vitest";
import { DirtySet } from "../../../src/actor/internal.js";

const row = (byte: number) => () => new Uint8Array([byte]);

it("writes nothing of a row that was new and is deleted before the commit", () => {
  const dirty = new DirtySet();
  dirty.putNew("m/1", row(1));
  dirty.put("m/1", row(2));
  dirty.delete("m/1");
  expect([dirty.isEmpty, dirty.get("m/1")]).toEqual([true, undefined]);
});

it("deletes one that was new before an earlier commit, and one that came back", () => {
  const dirty = new DirtySet();
  dirty.putNew("m/1", row(1));
  dirty.clear();
  dirty.delete("m/1");
  expect([...dirty.build().deletes]).toEqual(["m/1"]);
  dirty.put("m/1", row(1));
  dirty.delete("m/1");
  expect([...dirty.build().deletes]).toEqual(["m/1"]);
});
