// What a folder takes on the disk.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * The bytes of all files below it, however many blocks they are in.
 *
 * @param {string} directory
 */
export function bytesIn(directory) {
  if (!existsSync(directory)) return 0;
  return readdirSync(directory, { recursive: true })
    .map((name) => statSync(join(directory, String(name)), { throwIfNoEntry: false }))
    .reduce((sum, stat) => sum + (stat?.isFile() ? stat.size : 0), 0);
}
