import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { filesIn, read, ROOT } from "../architecture/source-files.js";
import { actors } from "./actors.js";
import { authentication } from "./authentication.js";
import { connections } from "./connections.js";
import { data } from "./data.js";
import { deploying } from "./deploying.js";
import { inspector } from "./inspector.js";
import { joinAndRace } from "./join-and-race.js";
import { limitsAndCost } from "./limits-and-cost.js";
import { bindings } from "./bindings.js";
import { blocksOf, isRunnable } from "./markdown.js";
import { migrating } from "./migrating-from-rivetkit.js";
import { moving } from "./moving-an-app.js";
import { queues } from "./queues.js";
import { rawHandlers } from "./raw-handlers.js";
import { recurringJobs } from "./recurring-jobs.js";
import { realtime } from "./realtime.js";
import { retriesAndTimeouts } from "./retries-and-timeouts.js";
import { repairing } from "./repairing.js";
import { sagas } from "./sagas.js";
import { platformEnv, type Claims, type Example } from "./stage.js";
import { timers } from "./timers.js";
import { versioning } from "./versioning.js";

/** What each guide says of each of its examples. Those of the README are proved in test/end-to-end/readme.test.ts. */
const CLAIMS: Readonly<Record<string, Readonly<Record<string, Claims>>>> = {
  actors,
  queues,
  connections,
  realtime,
  "raw-handlers": rawHandlers,
  timers,
  "recurring-jobs": recurringJobs,
  "retries-and-timeouts": retriesAndTimeouts,
  "join-and-race": joinAndRace,
  repairing,
  inspector,
  sagas,
  versioning,
  "limits-and-cost": limitsAndCost,
  data,
  bindings,
  deploying,
  authentication,
  "migrating-from-rivetkit": migrating,
  "moving-an-app": moving,
};

const GUIDES = filesIn("docs/guides/*.md");
/** Their examples are projects of their own: testing-guide.test.ts. */
const OWN_PROJECTS = new Set(["docs/guides/testing.md", "docs/guides/testing-in-workerd.md"]);
const blocks = ["README.md", ...GUIDES.filter((path) => !OWN_PROJECTS.has(path))].flatMap(blocksOf);
/** What an editor shows for a Worker project under strict settings. */
const COMPILER_OPTIONS = {
  module: "ESNext",
  moduleResolution: "Bundler",
  lib: ["ES2023"],
  types: ["@cloudflare/workers-types"],
  noImplicitReturns: false,
};

const project = mkdtempSync(join(tmpdir(), "perdure-guides-"));
const fileOf = (page: string, file: string): string => join(project, page, file);

/** What a program writes, also when it fails. */
function run(args: readonly string[]): Promise<string> {
  const env = { ...process.env, WRANGLER_SEND_METRICS: "false", WRANGLER_WRITE_LOGS: "false" };
  return new Promise((resolve) => {
    execFile(process.execPath, [...args], { cwd: project, env }, (error, stdout, stderr) =>
      resolve(stdout + stderr || (error ? String(error) : "")),
    );
  });
}

beforeAll(() => {
  symlinkSync(join(ROOT, "node_modules"), join(project, "node_modules"));
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({
      extends: join(ROOT, "tsconfig", "base.json"),
      compilerOptions: COMPILER_OPTIONS,
      include: ["*/*.ts"],
    }),
  );
  for (const { page, file, code } of blocks) {
    mkdirSync(join(project, page), { recursive: true });
    writeFileSync(fileOf(page, file), code);
  }
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

describe("the guides", () => {
  test("are of 60 to 150 lines each", () => {
    const lengths = GUIDES.map((path) => [path, read(path).trimEnd().split("\n").length] as const);
    // Upgrading is a table, as long as there are changes to tell.
    expect(
      lengths.filter(([path, lines]) => lines > 150 || (lines < 60 && path !== "docs/guides/upgrading.md")),
    ).toEqual([]);
  });

  test("show TypeScript that compiles, as does the README's", async () => {
    const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
    expect(await run([tsc, "-p", project, "--pretty", "false"])).toBe("");
  });

  test("deploy with the settings that they show", async () => {
    const { settings = "" } = /```toml\n(?<settings>[\s\S]*?)```/.exec(read("docs/guides/deploying.md"))?.groups ?? {};
    const config = join(project, "wrangler.toml");
    writeFileSync(config, settings.replace("src/worker.ts", fileOf("deploying", "own-routes.ts")));
    const wrangler = join(ROOT, "node_modules", "wrangler", "wrangler-dist", "cli.js");
    const output = await run([wrangler, "deploy", "--dry-run", "--outdir", join(project, "out"), "-c", config]);
    expect(output).toContain("env.ACTORS (ActorObject)");
  });

  test("say nothing of an example that is not proved here", () => {
    const running = blocks
      .filter((block) => block.page !== "README" && isRunnable(block))
      .map(({ page, file }) => `${page}/${file}`);
    const proved = Object.entries(CLAIMS).flatMap(([page, files]) =>
      Object.keys(files).map((file) => `${page}/${file}`),
    );
    expect(proved.sort()).toEqual(running.sort());
  });
});

for (const [page, files] of Object.entries(CLAIMS)) {
  describe(`the guide ${page}`, () => {
    const examples: Record<string, Example> = {};
    beforeAll(async () => {
      vi.doMock("cloudflare:workers", () => ({ DurableObject: class {}, waitUntil: () => {}, env: platformEnv }));
      for (const file of Object.keys(files)) examples[file] = (await import(fileOf(page, file))) as Example;
    });
    afterEach(() => {
      vi.unstubAllGlobals();
      vi.restoreAllMocks();
    });

    for (const [file, claims] of Object.entries(files)) {
      for (const [sentence, prove] of Object.entries(claims)) {
        test(`${basename(file, ".ts")}: ${sentence}`, async () => prove(examples[file] as Example, examples));
      }
    }
  });
}
