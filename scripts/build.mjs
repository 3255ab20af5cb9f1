// Writes dist/ anew: JavaScript and declarations, by tsc alone.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const root = join(import.meta.dirname, "..");
rmSync(join(root, "dist"), { recursive: true, force: true });
const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
const { status } = spawnSync(process.execPath, [tsc, "-p", join("tsconfig", "build.json")], {
  cwd: root,
  stdio: "inherit",
});
process.exit(status ?? 1);
