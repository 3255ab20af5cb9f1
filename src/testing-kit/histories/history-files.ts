import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { RecordedHistory } from "../../actor/index.js";

/** The largest file that is read, bytes. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** A history, or the sentence that says why there is none in the file. */
export interface ReadHistory {
  readonly file: string;
  readonly history?: unknown;
  readonly problem?: string;
}

/**
 * The `.json` files of a folder and of those in it, in the order of their names.
 *
 * @throws {Error} when there is no such folder, or it has no such file
 */
export async function historyFiles(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true }).catch((cause: unknown) => {
    throw new Error(`There is no folder "${folder}" with recorded histories`, { cause });
  });
  const files = found.filter((name) => name.endsWith(".json")).sort();
  if (files.length === 0) throw new Error(`The folder "${folder}" has no recorded history: they are .json files`);
  return files.map((name) => join(folder, name));
}

export async function readHistory(file: string): Promise<ReadHistory> {
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) return { file, problem: `The file is larger than ${MAX_FILE_BYTES} bytes` };
    return { file, history: JSON.parse(await readFile(file, "utf8")) as unknown };
  } catch (error) {
    return { file, problem: error instanceof SyntaxError ? "The file is not JSON" : "The file cannot be read" };
  }
}

/** Writes a history so that a line changes where a value changes. Makes the folder if need be. */
export async function writeHistory(file: string, history: RecordedHistory): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(history, null, 2)}\n`);
}
