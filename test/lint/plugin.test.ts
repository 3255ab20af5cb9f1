import { buildSync } from "esbuild";
import { Linter } from "eslint";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import lint from "perdure/lint";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT, filesIn, read } from "../architecture/source-files.js";
import { blocksOf } from "../docs/markdown.js";
import { inWorkflow } from "./check-rule.js";

const scratch = mkdtempSync(join(tmpdir(), "perdure-plugin-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

type Problem = { readonly file: string; readonly rule: string; readonly line: number; readonly message: string };

const RULES = Object.keys(lint.rules).map((name) => `perdure/${name}`);

/** Calls without arguments, functions and constants that name themselves, patterns, spreads, other ways to import. */
const ODD = String.raw`
import { workflow } from "perdure/workflow";
import * as all from "perdure/workflow";
import standard from "perdure/workflow";
workflow(); workflow(null); workflow(...[]);
all["workflow"](async (c) => { c.step(); c.step(...x); c["step"]("a", () => {}); c?.step?.("b", function () {}); });
const f = f; const g = () => g(); workflow(g); workflow(f);
standard(async (c) => { let n; c.step("a", () => { n = 1; }); });
const a = b, b = a; workflow(a);
workflow(async (ctx, second = ctx) => {
  const c = d, d = c; await c.step("x");
  let [n] = []; for (n in {}); for ([n] of []); ctx.n = n;
  await ctx.join("j", branches); await ctx.join("k", { ...more, z: { run } }); await ctx.race("r", [, ...more]);
  const x = x + Date.now();
  const y = z + Date.now(), z = y;
  await ctx.loop({ run: async function run(l, s) { run(); s = 1; s.n = 2; } });
  await ctx.step({ name: "m", run: ctx.step });
  label: for (;;) { await ctx.sleep(${"`x`"}, 1); }
  (await ctx.step("q", () => 1)).n = 2; [ctx.step("w", f)].at(0); delete globalThis.x; this.y = 1;
});
workflow(async ({ step }) => { let n; await step("a", () => { n = 1; }); });
workflow(async (...args) => { args[0].step("a", () => {}); });
function again(ctx) { ctx.step("s", again); } workflow(again);
class A { static w = workflow(async (ctx) => { let n = 0; await ctx.step("a", () => { this.n = 1; n ||= 2; }); }); }
export default workflow(async (ctx) => { const later = async () => { await later(); Date.now(); }; await later(); });
`;

describe("the recommended configuration", () => {
  test("turns on every rule in ESLint", () => {
    expect(Object.keys(lint.configs.recommended.rules)).toEqual(RULES);
    const code = inWorkflow(
      "let n = 0; await ctx.step('charge', async () => { n = 33; await ctx.sleep('x', 1); }); if (n > Date.now()) ctx.sleep('charge', 1);",
    );
    const problems = new Linter().verify(code, [lint.configs.recommended]);
    expect(problems.map(({ ruleId }) => ruleId).sort()).toEqual(RULES.toSorted());
  });

  test("is what the reference shows for oxlint, which has no configurations of plugins", () => {
    const [, config = "{}"] =
      /## With oxlint\n[\s\S]*?(^ {4}\{\n[\s\S]*?^ {4}\}$)/m.exec(read("docs/reference/lint.md")) ?? [];
    expect(JSON.parse(config)).toEqual({ jsPlugins: ["perdure/lint"], rules: lint.configs.recommended.rules });
    for (const name of Object.keys(lint.rules)) expect(read("docs/reference/lint.md")).toContain(`\n### ${name}\n`);
  });

  test("says in one sentence what happens, and what to do", () => {
    const [problem] = new Linter().verify(inWorkflow("let n = 0; await ctx.step('a', () => { n = 33; }); use(n);"), [
      lint.configs.recommended,
    ]);
    expect(problem?.message).toBe(
      "`n` is declared outside this step, which is not run again after an eviction: the change is lost, so return the value from the step.",
    );
    for (const { meta } of Object.values(lint.rules)) {
      expect(meta.docs.url).toMatch(/docs\/reference\/lint\.md#no-[a-z-]+$/);
      for (const message of Object.values(meta.messages)) expect(message).toMatch(/^[^.]*(\.[a-zA-Z`{][^.]*)*\.$/);
    }
  });
});

describe("oxlint", () => {
  beforeAll(() => {
    const entry = join(ROOT, "src", "entry", "lint.ts");
    buildSync({ entryPoints: [entry], bundle: true, format: "esm", outfile: join(scratch, "lint.mjs") });
    const rules = Object.fromEntries(RULES.map((name) => [name, "error"]));
    const config = { categories: { correctness: "off" }, jsPlugins: ["./lint.mjs"], rules };
    writeFileSync(join(scratch, ".oxlintrc.json"), JSON.stringify(config));
  });

  /** What oxlint says of files, by their path. */
  function problems(folder: string, sources: Readonly<Record<string, string>>): Problem[] {
    for (const [path, source] of Object.entries(sources)) {
      mkdirSync(join(scratch, folder, path, ".."), { recursive: true });
      writeFileSync(join(scratch, folder, path), source);
    }
    const oxlint = join(ROOT, "node_modules", "oxlint", "bin", "oxlint");
    const args = [oxlint, "--format", "json", "--config", ".oxlintrc.json", folder];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: scratch, encoding: "utf8" });
    if (stderr !== "") throw new Error(stderr);
    const { diagnostics, number_of_files: files } = JSON.parse(stdout) as {
      diagnostics: { filename: string; code: string; message: string; labels: { span: { line: number } }[] }[];
      number_of_files: number;
    };
    expect(files).toBe(Object.keys(sources).length);
    return diagnostics.map(({ filename, code, message, labels: [label] }) => ({
      file: filename.replaceAll("\\", "/").slice(folder.length + 1),
      rule: code,
      line: label?.span.line ?? 0,
      message,
    }));
  }

  test("finds each fault in TypeScript, too", () => {
    const found = problems("bad", {
      "order.ts": `import { actor } from "perdure";
import { workflow, type WorkflowStepContextOf } from "perdure/workflow";

export const order = actor({
  state: { paid: 0 as number },
  run: workflow(async (ctx) => {
    let paid = 0;
    const lines = [] as string[];
    await ctx.step("charge", async (step: WorkflowStepContextOf<typeof order>) => {
      (paid as number) = await charge(step);
      lines!.push("charged");
    });
    if (Date.now()! > 9) await ctx.step("late", (step) => void (step.state.paid = paid));
    for (const each of lines satisfies string[]) await ctx.step("mail", () => each);
    await ctx.loop("l", async (loop) => void (await ctx.sleep("s", 1)));
    ctx.sleep("end", 1);
  }),
});
declare function charge(step: unknown): Promise<number>;
`,
    });
    expect(found.map(({ rule, line }) => `${line} ${rule}`).sort()).toEqual([
      "10 perdure(no-outer-assignment)",
      "11 perdure(no-outer-assignment)",
      "13 perdure(no-unrecorded-input)",
      "14 perdure(no-repeated-name)",
      "15 perdure(no-outer-context)",
      "16 perdure(no-unawaited-operation)",
    ]);
  });

  test("says of odd code what ESLint says, and bears it", () => {
    const byESLint = new Linter().verify(ODD, [lint.configs.recommended]);
    const found = problems("odd", { "odd.js": ODD });
    const rules = byESLint.map(({ ruleId, line }) => `${line} ${ruleId?.replace(/\/(.*)/, "($1)")}`);
    expect(rules).toHaveLength(10);
    expect(found.map(({ rule, line }) => `${line} ${rule}`).sort()).toEqual(rules.sort());
  });

  test("finds nothing in the examples", () => {
    const files = filesIn("examples/**/*.ts");
    expect(files.filter((path) => read(path).includes("workflow(")).length).toBeGreaterThan(12);
    expect(problems("examples", Object.fromEntries(files.map((path) => [path, read(path)])))).toEqual([]);
  });

  test("finds in the pages what one of them shows as wrong, and nothing else", () => {
    const blocks = filesIn("README.md", "docs/guides/*.md").flatMap(blocksOf);
    const found = problems("docs", Object.fromEntries(blocks.map(({ page, file, code }) => [`${page}/${file}`, code])));
    expect(found.map(({ file, rule }) => `${file} ${rule}`)).toEqual([
      "join-and-race/total.ts perdure(no-outer-assignment)",
    ]);
  });
});
