import { readFileSync } from "node:fs";
import nodeModule from "node:module";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { isTextFile, moduleOf, runtimeModule } from "./worker-files.js";

/** What has been registered. */
export interface WorkerFileHooks {
  /** Takes it away: what is loaded from now on is loaded as ever. */
  deregister(): void;
}

/**
 * Lets this thread load a Worker's files: `cloudflare:workers`, texts (`.sql`, `.txt`, `.html`), and JSON without an
 * attribute, as a Worker's bundler takes it.
 *
 * @throws Error when Node is too old
 */
export function registerWorkerFiles(): WorkerFileHooks {
  const { registerHooks } = nodeModule as Partial<typeof nodeModule>;
  if (typeof registerHooks !== "function")
    throw new Error(
      `perdure/testing/register needs Node 22.15 or newer, for module.registerHooks(); this is Node ${process.versions.node}`,
    );
  return registerHooks({
    resolve(specifier, context, nextResolve) {
      const module = runtimeModule(specifier);
      // This package finds itself by its name, whatever it is installed as.
      return module ? nextResolve(module, { ...context, parentURL: import.meta.url }) : nextResolve(specifier, context);
    },
    load(url, context, nextLoad) {
      // What CommonJS requires is its own matter.
      if (!url.startsWith("file:") || context.conditions.includes("require")) return nextLoad(url, context);
      const { pathname } = new URL(url);
      const isPlainJson = pathname.endsWith(".json") && context.importAttributes["type"] === undefined;
      if (!isPlainJson && !isTextFile(pathname)) return nextLoad(url, context);
      const text = readFileSync(fileURLToPath(url), "utf8");
      const source = moduleOf(isPlainJson ? JSON.parse(text) : text);
      return { format: "module", source, shortCircuit: true };
    },
  });
}
