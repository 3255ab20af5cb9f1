import { describe, expect, it } from "vitest";
import { STORAGE_FORMAT } from "../../../src/protocol/index.js";
import { Golden, goldenFiles, type Any, type Dump, type Program, type Workload } from "./golden.js";
import { workloads } from "./workloads.js";
import { hashesOf } from "./write.js";

// Deploys of code that does not match the golden histories (FLOW-6), and then of code that does again.

type Deploy = (workload: Workload, dump: Dump, ran: () => void) => Program | null;

const deploys: Record<string, Deploy> = {
  "ends at once": () => async () => {},
  "throws at once": () => () => Promise.reject(new Error("not the history's")),
  "begins with a new step":
    ({ program }, _, ran) =>
    async (ctx, clock) => {
      await ctx.step("not in the history", ran);
      return program?.(ctx, clock);
    },
  "begins with a new race":
    ({ program }, _, ran) =>
    async (ctx, clock) => {
      await ctx.race("not in the history", [{ name: "only", run: async () => ran() }]);
      return program?.(ctx, clock);
    },
  "begins with another kind of the first name": (workload, dump, ran) => async (ctx, clock) => {
    const first = Golden.open(workload, dump).entries()[0];
    const name = String(first?.location[0]);
    if (first?.kind === "step") await ctx.sleep(name, 1);
    else await ctx.step(name, ran);
    return workload.program?.(ctx, clock);
  },
  "has the first name as a loop": (workload, dump, ran) => (ctx) =>
    ctx.loop(String(Golden.open(workload, dump).entries()[0]?.location[0]), (round: Any) => round.step("in it", ran)),
  "has no workflow at all": () => null,
};

const open = goldenFiles(Object.keys(hashesOf(import.meta.dirname)), workloads).filter(
  ([, dump, workload]) =>
    dump.format >= STORAGE_FORMAT &&
    !workload.isCutOff &&
    workload.program &&
    dump.rows["a"] !== undefined &&
    isOpen(workload, dump),
);

describe.each(open)("%s under code that", (_, dump, workload) => {
  it.each(Object.entries(deploys).filter(([name]) => !(name.includes("loop") && workload.name.startsWith("loop"))))(
    "%s: not a byte of its history changes, actions are served, and the right code goes on by itself",
    async (___, deploy) => {
      let ran = 0;
      const broken = Golden.open(
        workload,
        dump,
        deploy(workload, dump, () => (ran += 1)),
      );
      await broken.subject.send({ mode: "get" }, { kind: "send", queue: "trigger", body: new Uint8Array([1]) });
      await broken.world.settle();
      for (let checks = 0; checks < 3; checks += 1) {
        expect(await broken.call("status")).toMatchObject({ status: "diverged" });
        expect(await broken.call("get")).toBeDefined();
        expect(kept(broken.dump())).toEqual(kept(dump));
        expect(broken.subject.store.alarmAt).toBeGreaterThan(broken.clock.now());
        expect(broken.keys).not.toContain("l");
        broken.subject.crash();
        // A minute, then two.
        if (checks < 2) await broken.world.pass((checks + 1) * 60_000);
      }
      expect(ran).toBe(0);

      const fixed = broken.deploy();
      expect(await fixed.call("takeFrom", "trigger")).toBe(1);
      // Nothing but its alarm.
      expect(await fixed.finish()).toEqual(workload.ends);
    },
  );
});

/** Entries, state and messages. */
function kept(dump: Dump): unknown {
  return Object.fromEntries(
    Object.entries(dump.rows).filter(
      ([key]) => /^[esm]/.test(key) && dump.rows[key] !== undefined && !isTrigger(dump.rows[key] ?? ""),
    ),
  );
}

function isTrigger(row: string): boolean {
  return row.includes(Array.from("trigger", (letter) => letter.charCodeAt(0).toString(16)).join(""));
}

function isOpen(workload: Workload, dump: Dump): boolean {
  return /72756e6e696e67|726f6c6c696e675f6261636b/.test(dump.rows["a"] ?? "") && workload.name !== "diverged";
}
