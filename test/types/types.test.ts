import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkTypes, TYPE_PROJECTS } from "../../scripts/type-projects.mjs";

const root = join(import.meta.dirname, "..", "..");
const MAX_INSTANTIATIONS = 150_000;

// TypeScript 7 has no JavaScript API, so the type tests (*.test-d.ts) and everything else are checked by running tsc.
describe("types", () => {
  for (const name of TYPE_PROJECTS) {
    test(`tsconfig/${name}.json has no errors`, async () => {
      expect(await checkTypes(name)).toBe("");
    });
  }

  // Declarations of user code name the types that it infers: one without a public name is an error there (TS2742, TS2883).
  test("every type of the façade has a public name", () => {
    const files = readdirSync(join(root, "src/entry"), { recursive: true }).filter((file) =>
      String(file).endsWith(".ts"),
    );
    const entries = files.map((file) => read(`src/entry/${String(file)}`)).join("\n");
    const exported = new Set([...entries.matchAll(/^ {2}(?:type )?(\w+)(?: as \w+)?,$/gm)].map(([, name]) => name));
    const facade = [
      "contexts",
      "actor-options",
      "workflow-types",
      "queue-types",
      "declarations",
      "client-types",
      "schedule-types",
      "connection-types",
      "raw-socket-types",
      "workflow-status",
    ];
    const declared = facade.flatMap((file) =>
      [...read(`src/actor/api/${file}.ts`).matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name),
    );
    expect(declared.length).toBeGreaterThan(80);
    expect(declared.filter((name) => !exported.has(name))).toEqual([]);
  });

  // Counted, not timed: `npm run types` of an app takes as long as this is large. Measured 146,661 on 1 December 2026.
  test("a registry of 50 actors with 20 actions each, and a state that contains itself, stays within its instantiations", async () => {
    const project = mkdtempSync(join(tmpdir(), "perdure-types-"));
    try {
      writeFileSync(join(project, "registry.ts"), largeRegistry(50, 20));
      writeFileSync(join(project, "package.json"), '{ "type": "module" }');
      const compilerOptions = { types: [], lib: ["ES2023", "DOM"], noImplicitReturns: false };
      writeFileSync(
        join(project, "tsconfig.json"),
        JSON.stringify({ extends: join(root, "tsconfig", "base.json"), compilerOptions, include: ["*.ts"] }),
      );
      const output = await compile(project);
      const [, instantiations] = /^Instantiations:\s+(\d+)$/m.exec(output) ?? [];
      expect(instantiations, output).toBeDefined();
      expect(Number(instantiations)).toBeLessThan(MAX_INSTANTIATIONS);
      expect(Number(instantiations)).toBeGreaterThan(MAX_INSTANTIATIONS / 2);
    } finally {
      rmSync(project, { recursive: true, force: true });
    }
  });
});

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** What the compiler said: its errors, otherwise its counts. In one thread, since each would instantiate by itself. */
function compile(project: string): Promise<string> {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const args = [tsc, "-p", project, "--pretty", "false", "--singleThreaded", "--extendedDiagnostics"];
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, stdout, stderr) =>
      resolve(error ? stdout + stderr || String(error) : stdout),
    );
  });
}

function largeRegistry(actors: number, actions: number): string {
  const numbers = Array.from({ length: actors }, (_, index) => index);
  const action = (index: number): string =>
    `    act${index}: (c, by: number, tree?: Tree) => ({ by, tree: tree ?? c.state.tree, n: c.state.n + ${index} }),`;
  const actor = (index: number): string => `
export const actor${index} = actor({
  state: { n: ${index}, tree: { name: "", children: [], parent: null } as Tree },
  queues: { jobs: queue<Tree, { done: boolean }>(), stop: queue<string>() },
  run: workflow(async (ctx) => {
    await ctx.loop("loop", async (loop) => {
      const message = await loop.queue.next("message");
      if (message.name === "stop") return Loop.break(message.body);
      await loop.step("work", (step) => work${index}(step, message.body));
    });
  }),
  actions: {
${Array.from({ length: actions }, (_, n) => action(n)).join("\n")}
  },
});
async function work${index}(step: WorkflowStepContextOf<typeof actor${index}>, tree: Tree): Promise<void> {
  step.state.tree = tree;
  await step.client<typeof registry>().actor${(index + 1) % actors}.getOrCreate("a").act0(1, tree);
}`;
  return `
import { actor, queue, setup } from "perdure";
import { createClient } from "perdure/client";
import { Loop, workflow, type WorkflowStepContextOf } from "perdure/workflow";
export interface Tree { name: string; children: Tree[]; parent: Tree | null }
${numbers.map(actor).join("\n")}
export const registry = setup({ use: { ${numbers.map((index) => `actor${index}`).join(", ")} } });
export const client = createClient<typeof registry>();
export async function use(): Promise<number> {
  let sum = 0;
${numbers.map((index) => `  sum += (await client.actor${index}.get("a").act${index % actions}(1)).tree.children.length;`).join("\n")}
  return sum;
}`;
}
