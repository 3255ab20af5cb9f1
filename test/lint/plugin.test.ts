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

describe("the recommended configuration", () => {
  test("turns on every rule in ESLint", () => {
    expect(Object.keys(lint.configs.recommended.rules)).toEqual(RULES);
    const code = inWorkflow(
      "let n = 0; await ctx.step('charge', async () => { n = 33; await ctx.sleep('x', 1); }); if (n > Date.now()) ctx.sleep('charge', 1);",
    );
    const problems = new Linter().verify(code, [lint.configs.recommended]);
    expect(problems.map(({ ruleId }) => ruleId).sort()).toEqual(RULES.toSorted());
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
