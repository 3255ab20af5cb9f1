// Bundles the two Workers that are measured.
import { build } from "esbuild";
import { join } from "node:path";

/** By name and options, so that each is bundled once. @type {Map<string, Promise<string>>} */
const scripts = new Map();

/**
 * @param {"bare" | "perdure"} name
 * @param {{ isMinified?: boolean }} [options]
 */
export function workerScript(name, { isMinified = false } = {}) {
  const key = `${name} ${isMinified}`;
  const script = scripts.get(key) ?? bundled(name, isMinified);
  scripts.set(key, script);
  return script;
}

/**
 * @param {"bare" | "perdure"} name
 * @param {boolean} isMinified
 */
async function bundled(name, isMinified) {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "workers", `${name}.ts`)],
    bundle: true,
    minify: isMinified,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker"],
    external: ["cloudflare:*", "node:*"],
    write: false,
    logLevel: "error",
  });
  return outputFiles[0]?.text ?? "";
}
