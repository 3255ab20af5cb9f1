// Builds the pages of the examples into examples/pages/, which wrangler.toml serves beside the actors. wrangler runs it
// (`[build]`) before it serves or deploys, and again when a source changes; maybe with the machine's own Node.
import { build } from "esbuild";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const examples = join(root, "examples");
const names = readdirSync(examples).filter((name) => existsSync(join(examples, name, "page.ts")));

await build({
  entryPoints: names.flatMap((name) => [
    { in: join(examples, name, "page.ts"), out: join(name, "page") },
    { in: join(examples, name, "page.html"), out: join(name, "index") },
  ]),
  outdir: join(examples, "pages"),
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  loader: { ".html": "copy" },
  // Where the package's own names lead: to the sources.
  tsconfig: join(root, "tsconfig.json"),
  logLevel: "warning",
});
