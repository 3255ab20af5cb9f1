import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isTextFile, moduleOf, runtimeModule } from "./worker-files.js";

/** A plugin of Vite, as far as this one is one. */
export interface WorkerFilesPlugin {
  readonly name: string;
  readonly enforce: "pre";
  config(config: { test?: { setupFiles?: string | string[] } }): { test: { setupFiles: string[] } };
  resolveId(this: ResolvingPlugin, source: string, importer: string | undefined): Promise<Resolved | undefined>;
  load(id: string): string | undefined;
}

interface Resolved {
  readonly id: string;
}
/** What Vite's hooks are called on. */
interface ResolvingPlugin {
  resolve(source: string, importer: string | undefined, options: { skipSelf: true }): Promise<Resolved | null>;
}

const REGISTER = "perdure/testing/register";

/**
 * Lets vitest, in Node, load a Worker's files: `cloudflare:workers`, and `.sql`, `.txt` and `.html` as texts.
 *
 * @example
 *     // vitest.config.ts
 *     import { workerFiles } from "perdure/testing/vitest";
 *     import { defineConfig } from "vitest/config";
 *
 *     export default defineConfig({ plugins: [workerFiles()] });
 */
export function workerFiles(): WorkerFilesPlugin {
  return {
    name: "perdure:worker-files",
    enforce: "pre",
    // For packages, which vitest lets Node load. Before the files of the user, who may import such packages there.
    config(config) {
      const own = config.test?.setupFiles ?? [];
      const setupFiles = [REGISTER].concat(own);
      if (config.test) config.test.setupFiles = [];
      return { test: { setupFiles } };
    },
    async resolveId(source, importer) {
      const module = runtimeModule(source) ?? (source === REGISTER ? REGISTER : undefined);
      if (module === undefined) return undefined;
      const found = await this.resolve(module, importer, { skipSelf: true }).catch(() => null);
      // This package finds itself by its name, whatever it is installed as.
      return found ?? { id: fileURLToPath(import.meta.resolve(module)) };
    },
    load: (id) => (isTextFile(id) ? moduleOf(readFileSync(id, "utf8")) : undefined),
  };
}
