// `node scripts/golden.mjs`: writes the golden histories of test/workflow/histories that are missing, and their hashes.
// A file that exists is never written again: every later build must open it. Nothing of the tests runs this.
import { build } from "esbuild";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname, "..");
const folder = join(root, "test", "workflow", "histories");
// Below the project, so that the bundle finds its packages.
const scratch = mkdtempSync(join(root, "node_modules", ".golden-"));
try {
  const outfile = join(scratch, "write.mjs");
  await build({
    entryPoints: [join(folder, "write.ts")],
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    outfile,
    logLevel: "error",
  });
  const { writeMissing } = await import(pathToFileURL(outfile).href);
  const written = await writeMissing(folder);
  console.log(
    written.length === 0
      ? "Nothing is missing."
      : `Written:\n${written.map((/** @type {string} */ name) => `  ${name}`).join("\n")}`,
  );
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
