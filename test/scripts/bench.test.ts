import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { JOBS } from "../../bench/jobs/index.mjs";
import type { Figure } from "../../bench/measure.mjs";
import { page } from "../../bench/page.mjs";
import type { Report } from "../../bench/report.mjs";

const RUN = join(import.meta.dirname, "..", "..", "bench", "run.mjs");
const LIMIT_MS = 300_000;
const run = (...options: string[]) => promisify(execFile)(process.execPath, [RUN, ...options]);

describe("npm run bench", () => {
  const directory = mkdtempSync(join(tmpdir(), "perdure-bench-test-"));
  let report: Report;

  beforeAll(async () => {
    const file = join(directory, "report.json");
    await run("--quick", "--json", file);
    report = JSON.parse(readFileSync(file, "utf8"));
  }, LIMIT_MS);
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test("runs every job, each with figures of a name of their own", () => {
    expect(report.jobs.map(({ name }) => name)).toEqual(JOBS.map(({ name }) => name));
    for (const { name, figures } of report.jobs) {
      const names = figures.map((figure) => `${figure.name}, ${figure.unit}`);
      expect([name, names.length]).not.toEqual([name, 0]);
      expect([name, new Set(names).size]).toEqual([name, names.length]);
    }
  });

  test("finds a positive number for each side that has one, and a ratio where both have", () => {
    const strange = allFigures().filter(
      (figure) =>
        !isPositive(figure, figure.perdure.median) ||
        (figure.bare !== undefined && !isPositive(figure, figure.bare.median)) ||
        (figure.bare !== undefined && figure.perdure.median > 0 && !((figure.ratio?.median ?? 0) > 0)),
    );
    expect(strange).toEqual([]);
  });

  test("says when, where and under which load it ran", () => {
    expect(report).toMatchObject({ isQuick: true, rounds: 1, node: process.version, date: expect.any(String) });
    expect(report.load.before).toHaveLength(3);
    expect(report.machine).not.toBe("");
  });

  test("makes a page with a row for each figure", () => {
    const text = page(report, undefined);
    const rows = allFigures().map(({ name }) => `| ${name} | `);
    expect(rows.filter((row) => !text.includes(row))).toEqual([]);
    expect(text).toContain(report.machine);
  });

  /** Reads write no rows; fsyncs are counted only where there is a C compiler, memory and CPU only where there is /proc. */
  function isPositive({ name, unit, goal }: Figure, value: number | null): boolean {
    if (goal?.startsWith("0 ")) return value === 0;
    if (value === null && (unit === "fsyncs" || process.platform !== "linux")) return true;
    return name === "read" && (unit === "rows" || unit === "fsyncs") ? value === 0 : (value ?? 0) > 0;
  }

  function allFigures(): Figure[] {
    return report.jobs.flatMap(({ figures }) => figures);
  }
});

describe("npm run bench refuses", () => {
  test.each([
    [["--only", "write,nothing"], /No job is named nothing; there are write, read/],
    [["--rounds", "0"], /--rounds must be a whole number/],
    [["--write", "--quick"], /--write is of all jobs/],
    [["--against", "nobody"], /--against knows peers, not nobody/],
  ])("%j", async (options, message) => {
    await expect(run(...options)).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
  });
});
