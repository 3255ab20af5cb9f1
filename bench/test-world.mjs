// `node bench/test-world.mjs`: what a world of the testing kit takes for many workflows of ten steps. Times are the
// processor's, so that what else the machine does is not in them.
import { build } from "esbuild";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname, "..");

// Below the project, so that the bundle finds its packages.
const scratch = mkdtempSync(join(root, "node_modules", ".test-world-"));
try {
  const outfile = join(scratch, "test-world.mjs");
  await build({
    entryPoints: [join(root, "bench", "test-world.ts")],
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    alias: Object.fromEntries(
      ["testing", "workflow", "index"].map((entry) => [
        entry === "index" ? "perdure" : `perdure/${entry}`,
        join(root, "src", "entry", `${entry}.ts`),
      ]),
    ),
    outfile,
    logLevel: "error",
  });
  const { run } = await import(pathToFileURL(outfile).href);
  await run(50, 1_000);
  for (const [what, workflows, sleepMs] of [
    ["1,000 workflows of ten steps", 1_000, 0],
    ["the same, with an hour after each step", 1_000, 3_600_000],
  ]) {
    const before = process.cpuUsage();
    await run(workflows, sleepMs);
    const { user, system } = process.cpuUsage(before);
    console.log(`${what}: ${((user + system) / 1_000_000).toFixed(2)} s`);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
