import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT } from "../architecture/source-files.js";
import { propertyNames, readsThroughPrototype } from "../support/polluted-prototype.js";
import { runCore } from "./core-scenario.js";

// Anybody's code may write to `Object.prototype`: `table[key].destroyed = true` with a key of "__proto__" does. The names are
// all words of our sources, so that no field of a row, a record, an envelope, a configuration or an option is left out.

const NAMES = propertyNames();
const directory = mkdtempSync(join(tmpdir(), "perdure-polluted-"));
const program = join(directory, "run.mjs");

beforeAll(() =>
  build({
    entryPoints: [join(ROOT, "test/actor/polluted-run.ts")],
    outfile: program,
    bundle: true,
    format: "esm",
    platform: "node",
    define: { "import.meta.url": JSON.stringify(import.meta.url) },
  }),
);
afterAll(() => rmSync(directory, { recursive: true }));

it("looks for enough names", () => {
  expect(NAMES.length).toBeGreaterThan(1_000);
  expect(NAMES).toEqual(
    expect.arrayContaining([
      "destroyed",
      "workflow",
      "dueAt",
      "onDestroy",
      "maxQueueSize",
      "generation",
      "waitUntil",
      "limitBytes",
      "noSleep",
    ]),
  );
});

it("reads no row, record, envelope, configuration or option through Object.prototype", async () => {
  // What it finds is to be read through `own`, `ownField` or `decodeRow` of protocol/, where the object comes in.
  const reads = await readsThroughPrototype(NAMES, runCore);
  expect(reads).toEqual([]);
});

it.each(["true", "1", '"poison"', "function", '{"at":1,"kind":"poison"}'])(
  "stores, answers and deletes the same with all of them on Object.prototype, each %s",
  async (poison) => {
    const { stdout } = await promisify(execFile)(process.execPath, [program, poison], { timeout: 50_000 });
    expect(stdout).toMatch(/^the same, \d{2,} lines, \d{4,} names$/);
  },
);
