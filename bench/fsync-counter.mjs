// Compiles bench/fsync-counter.c once a run, where there is a C compiler; without one, nothing is counted.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** @type {string | undefined} */
let library;

function compiled() {
  if (library !== undefined) return library;
  const directory = mkdtempSync(join(tmpdir(), "perdure-bench-fsync-"));
  process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "counter.so");
  try {
    execFileSync("cc", ["-shared", "-fPIC", "-O2", "-o", path, join(import.meta.dirname, "fsync-counter.c"), "-ldl"], {
      stdio: "ignore",
    });
  } catch {
    // No compiler: `count` is NaN.
  }
  library = existsSync(path) ? path : "";
  return library;
}

/** Counts the fsyncs of a process that is started with `env`. */
export class FsyncCounter {
  #file;

  /** @param {string} directory */
  constructor(directory) {
    this.#file = join(directory, "fsyncs");
    writeFileSync(this.#file, new Uint8Array(8));
  }

  get env() {
    return compiled() === "" ? {} : { LD_PRELOAD: compiled(), FSYNC_COUNTER: this.#file };
  }

  get count() {
    return compiled() === "" ? Number.NaN : Number(readFileSync(this.#file).readBigUInt64LE());
  }
}
