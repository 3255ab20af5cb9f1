/** Writes the golden files that are missing; run by `scripts/golden.mjs`. */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { begin } from "./golden.js";
import { workloads } from "./workloads.js";

/** Returns the names of the files written. Existing files never change. */
export async function writeMissing(folder: string): Promise<string[]> {
  const written: string[] = [];
  for (const workload of workloads) {
    if (Object.keys(hashesOf(folder)).some((file) => file.endsWith(`/${workload.name}.json`))) continue;
    const dump = (await begin(workload)).dump();
    mkdirSync(join(folder, `v${dump.format}`), { recursive: true });
    const file = `v${dump.format}/${workload.name}.json`;
    writeFileSync(join(folder, file), `${JSON.stringify(dump, null, 2)}\n`);
    written.push(file);
  }
  writeFileSync(join(folder, "hashes.json"), `${JSON.stringify(hashesOf(folder), null, 2)}\n`);
  return written;
}

/** SHA-256 of every golden file, by its path below the folder. */
export function hashesOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((each) => each.isDirectory() && /^v\d+$/.test(each.name))
    .flatMap(({ name }) => readdirSync(join(folder, name)).map((file) => `${name}/${file}`))
    .sort();
  return Object.fromEntries(
    files.map((file) => [
      file,
      createHash("sha256")
        .update(readFileSync(join(folder, file)))
        .digest("hex"),
    ]),
  );
}
