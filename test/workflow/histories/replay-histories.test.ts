import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { decodeValue, encodeValue, STORAGE_FORMAT } from "../../../src/protocol/index.js";
import { Golden, goldenFiles, rowsOf } from "./golden.js";
import { workloads } from "./workloads.js";
import { hashesOf } from "./write.js";

const files = hashesOf(import.meta.dirname);
const histories = goldenFiles(Object.keys(files), workloads);
/** A boot that finds a lease or an older format must write. */
const atRest = histories.filter(([, dump, workload]) => !workload.isCutOff && dump.format >= STORAGE_FORMAT);
/** Clients' calls are not part of the crash tests: they would have to be repeated. */
const bySelf = histories.filter(([, , workload]) => !workload.finish);

describe("golden histories", () => {
  it("are those that were committed, byte by byte, and there is one of each workload", () => {
    const committed = JSON.parse(readFileSync(join(import.meta.dirname, "hashes.json"), "utf8")) as Record<
      string,
      string
    >;
    expect(files).toEqual(committed);
    expect(Object.keys(files).map((file) => file.replace(/^v\d+\/|\.json$/g, ""))).toEqual(
      expect.arrayContaining(workloads.map(({ name }) => name)),
    );
  });

  it.each(histories)("%s was kept at the moment of its name", (_, dump, workload) => {
    const lines = Golden.open(workload, dump).lines();
    for (const text of workload.holds) expect(lines).toContainEqual(expect.stringContaining(text));
  });

  it.each(histories)("%s has rows that this build's encoder writes byte by byte", (_, dump) => {
    for (const [key, digits] of Object.entries(dump.rows)) {
      // Values that a user stored by key are not in our encoding.
      if (key.startsWith("u/")) continue;
      const bytes = Buffer.from(digits, "hex");
      expect(Buffer.from(encodeValue(decodeValue(bytes))).toString("hex"), key).toBe(digits);
    }
  });

  it.each(histories)("%s is finished by this build", async (_, dump, workload) => {
    expect(await Golden.open(workload, dump).finish()).toEqual(workload.ends);
  });

  it.each(bySelf)("%s is finished wherever this build is cut off", async (_, dump, workload) => {
    const undisturbed = Golden.open(workload, dump);
    await undisturbed.finish();
    for (let at = 1; at <= undisturbed.subject.store.commits; at += 1) {
      for (const fault of ["crash-before", "crash-after"] as const) {
        const golden = Golden.open(workload, dump, workload.program, {
          fault: (_actor, commit) => (commit === at ? fault : undefined),
        });
        expect(await golden.finish(), `${fault} commit ${at}`).toEqual(workload.ends);
        expect(golden.subject.crashes, `${fault} commit ${at}`).toBe(1);
      }
    }
  });

  it.each(atRest)("%s is read without a write", async (_, dump, workload) => {
    const golden = Golden.open(workload, dump);
    for (let calls = 0; calls < 2; calls += 1) {
      await golden.call("get");
      await golden.call("status");
      await golden.call("history");
      await golden.world.settle();
      expect(golden.subject.store.commits).toBe(0);
      golden.subject.crash();
    }
    expect(golden.dump()).toEqual(dump);
  });

  it.each(histories)(
    "%s has only its lease and alarm, and replies whose time is over, written before anything of it runs",
    async (_, dump, workload) => {
      const before = rowsOf(dump);
      const changed: string[][] = [];
      const golden = Golden.open(workload, dump, workload.program, {
        onCommit: (__, rows) =>
          changed.push(
            [...new Set([...before.keys(), ...rows.keys()])].filter(
              (key) => before.get(key)?.join() !== rows.get(key)?.join(),
            ),
          ),
      });
      await golden.world.pass(100 * 24 * 3_600_000);
      expect(changed[0]?.filter((key) => key !== "l" && !key.startsWith("d/reply/")) ?? []).toEqual([]);
    },
  );
});
