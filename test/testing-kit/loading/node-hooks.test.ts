import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const REGISTER = "./src/entry/testing/register.ts";

/** What a program in Node writes, with these modules loaded before it. */
function node(program: readonly string[], ...before: string[]): Promise<string> {
  const imports = ["./test/support/source-hooks.mjs", ...before].flatMap((module) => ["--import", module]);
  return new Promise((resolve) => {
    execFile(process.execPath, [...imports, ...program], { cwd: ROOT }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
}

const evaluate = (code: string, ...args: string[]): string[] => ["--input-type=module", "--eval", code, ...args];

describe("perdure/testing/register", () => {
  it("loads a Worker's files, whose `env` is that of the world (the claims of test/package/worker-files)", async () => {
    expect(await node(["test/package/worker-files/run.ts"], REGISTER)).toBe("claims hold\n");
  });

  it("is needed for that", async () => {
    expect(await node(["test/package/worker-files/run.ts"])).toContain("ERR_UNSUPPORTED_ESM_URL_SCHEME");
  });

  it("says of other modules of the platform that they are not here", async () => {
    expect(await node(evaluate("await import(process.argv[1])", "cloudflare:email"), REGISTER)).toContain(
      '"cloudflare:email" exists in the Workers runtime alone: of its modules perdure/testing has cloudflare:workers',
    );
  });

  it("leaves what CommonJS requires, and JSON with an attribute, as they are", async () => {
    const journal = "./test/package/worker-files/migrations/meta/_journal.json";
    const code =
      'import { createRequire } from "node:module";' +
      `import journal from "${journal}" with { type: "json" };` +
      `console.log(createRequire(import.meta.url)("${journal}").version, journal.version)`;
    expect(await node(evaluate(code), REGISTER)).toBe("7 7\n");
  });

  it("can be taken away", async () => {
    const code =
      `const { hooks } = await import("${REGISTER}"); hooks.deregister();` +
      "await import(process.argv[1]).catch(({ code }) => console.log(code))";
    expect(await node(evaluate(code, "cloudflare:workers"))).toBe("ERR_UNSUPPORTED_ESM_URL_SCHEME\n");
  });

  it("says which Node it needs", async () => {
    const old = 'data:text/javascript,import nodeModule from "node:module"; nodeModule.registerHooks = undefined';
    expect(await node(evaluate(""), old, REGISTER)).toContain(
      `perdure/testing/register needs Node 22.15 or newer, for module.registerHooks(); this is Node ${process.versions.node}`,
    );
  });
});
