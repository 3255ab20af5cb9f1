// Packs what `npm publish` would, unpacks it into an empty project, and uses it there as a stranger would: every entry
// point resolves, its declarations compile without our settings or types, and its code loads in Node.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";

const root = join(import.meta.dirname, "..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const entries = Object.keys(manifest.exports).filter((name) => name !== "./package.json").map((name) => manifest.name + name.slice(1));
/** The entries that only a Worker can load. */
const workerOnly = new Set([`${manifest.name}/cloudflare`]);
const anywhere = entries.filter((entry) => !workerOnly.has(entry));

const consumer = mkdtempSync(join(tmpdir(), "perdure-consumer-"));
try {
  const modules = join(consumer, "node_modules");
  const installed = join(modules, manifest.name);
  mkdirSync(installed, { recursive: true });
  const packed = run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", consumer]).trim();
  run("tar", ["-xzf", join(consumer, packed), "-C", installed, "--strip-components=1"]);
  for (const dependency of [...Object.keys(manifest.dependencies), "@cloudflare/workers-types"]) {
    mkdirSync(dirname(join(modules, dependency)), { recursive: true });
    symlinkSync(join(root, "node_modules", dependency), join(modules, dependency));
  }

  writeFileSync(join(consumer, "package.json"), JSON.stringify({ type: "module" }));
  compile("browser", anywhere, { lib: ["ES2023", "DOM", "DOM.Iterable"], types: [], skipLibCheck: false });
  compile("worker", entries, { lib: ["ES2023"], types: ["@cloudflare/workers-types"], skipLibCheck: false });

  writeFileSync(join(consumer, "load.mjs"), anywhere.map((entry) => `await import(${JSON.stringify(entry)});`).join("\n"));
  run(process.execPath, ["load.mjs"], consumer);
  console.log(`The packed package works: ${entries.join(", ")}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(consumer, { recursive: true, force: true });
}

/**
 * @param {string} name
 * @param {string[]} used
 * @param {object} platform
 */
function compile(name, used, platform) {
  writeFileSync(join(consumer, `${name}.ts`), used.map((entry, index) => `export * as e${index} from ${JSON.stringify(entry)};`).join("\n"));
  const compilerOptions = { strict: true, noEmit: true, target: "ES2023", module: "NodeNext", ...platform };
  writeFileSync(join(consumer, `tsconfig.${name}.json`), JSON.stringify({ compilerOptions, files: [`${name}.ts`] }));
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  run(process.execPath, [tsc, "-p", `tsconfig.${name}.json`, "--pretty", "false"], consumer);
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} cwd
 * @returns {string}
 */
function run(command, args, cwd = root) {
  try {
    return execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    const { stdout = "", stderr = "" } = /** @type {{ stdout?: string, stderr?: string }} */ (error);
    throw new Error(`${command} ${args.join(" ")} failed in ${cwd}\n${stdout}${stderr}`, { cause: error });
  }
}
