import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { chromium, type Browser } from "playwright-core";

const root = join(import.meta.dirname, "..", "..");
const cache = join(root, "node_modules", ".cache");
/** The package's own configuration knows no folder but /tmp. Without a font, a page has no text. */
const FONTS = '<?xml version="1.0"?><fontconfig><dir prefix="relative">fonts</dir></fontconfig>';

/**
 * A headless Chromium. On Linux (x64) it is the one inside the package @sparticuz/chromium, with its fonts and libraries:
 * no system package is needed. Elsewhere that package has none, and it is the Chrome of the machine.
 */
export async function launchChromium(args: string[] = []): Promise<Browser> {
  if (process.platform !== "linux" || process.arch !== "x64") return chromium.launch({ channel: "chrome", args });
  const folder = await unpack();
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: join(folder, "al2023", "lib"),
    FONTCONFIG_FILE: join(folder, "fonts.conf"),
  };
  return chromium.launch({ executablePath: join(folder, "chromium"), env, args });
}

/** Unpacks the browser (210 MB), once for each version. A run that is killed in the middle leaves nothing that looks whole. */
async function unpack(): Promise<string> {
  const { version } = JSON.parse(
    readFileSync(join(root, "node_modules", "@sparticuz", "chromium", "package.json"), "utf8"),
  ) as { version: string };
  const folder = join(cache, `chromium-${version}`);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const scratch = mkdtempSync(`${folder}-`);
  try {
    // The package unpacks into the system's temporary folder, and the libraries only where it believes to be on Lambda.
    const script = 'import chromium from "@sparticuz/chromium"; await chromium.executablePath();';
    const env = { ...process.env, TMPDIR: scratch, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x" };
    await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], { cwd: root, env });
    writeFileSync(join(scratch, "fonts.conf"), FONTS);
    renameSync(scratch, folder);
  } catch (error) {
    rmSync(scratch, { recursive: true, force: true });
    throw error;
  }
  return folder;
}
