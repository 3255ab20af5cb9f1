import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crashEverywhere, replayHistories } from "perdure/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT, read } from "../architecture/source-files.js";
import type { registry as Registry } from "../package/testing/order.js";
import { blocksOf } from "./markdown.js";

// The guide "Testing" shows a project. Its tests run here like all others, over the sources, and in scripts/check-package.mjs
// over the packed package, in an empty folder.
const PROJECT = "test/package/testing";
const GUIDE = read("docs/guides/testing.md");

test("the guide shows each file of its project as it is", () => {
  const shown = Object.fromEntries(blocksOf("docs/guides/testing.md").map(({ file, code }) => [file, code]));
  const files = readdirSync(join(ROOT, PROJECT)).filter((name) => name.endsWith(".ts"));
  expect(shown).toEqual(Object.fromEntries(files.map((name) => [name, read(`${PROJECT}/${name}`)])));
});

test.each([
  ["docs/guides/testing.md", PROJECT, ["oxlint"]],
  ["docs/guides/testing-in-workerd.md", "test/package/in-workerd", []],
])("%s installs what its project has and uses", (page, folder, unshown) => {
  const installed = [...read(page).matchAll(/^ {4}(?:npm init .*&& )?npm install (.+)$/gm)]
    .flatMap(([, names = ""]) => names.split(" "))
    .filter((name) => !name.startsWith("-"));
  const { dependencies, devDependencies } = JSON.parse(read(`${folder}/package.json`)) as Record<string, object>;
  const declared = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !unshown.includes(name));
  expect(installed.sort()).toEqual(declared.sort());
  const used = blocksOf(page)
    .flatMap(({ code }) => [...code.matchAll(/(?:from |"types": \[|, )"((?:@[\w-]+\/)?[\w-]+)(?:\/[\w/-]+)?"/g)])
    .map(([, name = ""]) => name);
  expect(used).toContain("perdure");
  expect(
    used.filter((name) => name.includes("/") || name === "vitest").filter((name) => !installed.includes(name)),
  ).toEqual([]);
});

describe("the guide's tests find", () => {
  const scratch = mkdtempSync(join(tmpdir(), "perdure-testing-guide-"));
  beforeAll(() => symlinkSync(join(ROOT, "node_modules"), join(scratch, "node_modules")));
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  /** The project's actors with a fault in them. */
  async function faulty(name: string, ...edits: readonly [right: string, wrong: string][]): Promise<typeof Registry> {
    let source = read(`${PROJECT}/order.ts`);
    for (const [right, wrong] of edits) {
      expect(source).toContain(right);
      source = source.replace(right, wrong);
    }
    const file = join(scratch, `${name}.ts`);
    writeFileSync(file, source);
    const { registry } = (await import(file)) as { registry: typeof Registry };
    return registry;
  }

  async function crashed(registry: typeof Registry): Promise<string> {
    const done = new Map<string, string>();
    const found = crashEverywhere(registry, {
      async run(world) {
        done.clear();
        world.fetch.on("https://api.example.com/*", ({ headers, url }) => {
          done.set(headers.get("idempotency-key") ?? crypto.randomUUID(), new URL(url).pathname);
          return { id: "id_1" };
        });
        await world.client.order.getOrCreate("o-1").send("approvals", { by: "ada" });
        await world.advance("3 days");
      },
      check: () => expect([...done.values()]).toEqual(["/charges", "/policies", "/mails"]),
    });
    return found.then(
      () => "nothing",
      ({ message }: Error) => message,
    );
  }

  /** Whether the guide quotes a message, with what it leaves out. */
  function expectQuoted(message: string): void {
    const quotes = [...GUIDE.matchAll(/^ {4}(.*…)$/gm)].map(([, quote = ""]) =>
      quote.split("…").map((part) => part.trim()),
    );
    expect(quotes.filter((parts) => parts.every((part) => message.includes(part)))).toHaveLength(1);
  }

  test("a request without a key", async () => {
    const key = '    headers: { "idempotency-key": `${step.actorId}/${path}` },\n';
    const message = await crashed(await faulty("no-key", [key, ""]));
    expect(message).toMatch(/^step "charge" of order \["o-1"\] ran twice .*: give it a key/);
    expectQuoted(message);
  });

  test("a variable that a step assigned", async () => {
    const right = 'const charge = await ctx.step("charge", (step) => post(step, "charges", { by: approval.body.by }));';
    const wrong =
      'let charge = { id: "" }; await ctx.step("charge", async (step) => { charge = await post(step, "charges", {}); });';
    const message = await crashed(await faulty("variable", [right, wrong], ['return "delivered"', "return charge.id"]));
    expect(message).toMatch(/^order \["o-1"\] completed with "" instead of "id_1" .*: return it from the step$/);
  });

  test("a step that came without a gate", async () => {
    const registry = await faulty("no-gate", ['if ((await ctx.getVersion("insurance", 2)) >= 2) await', "await"]);
    const replayed = replayHistories(registry, join(ROOT, PROJECT, "histories")).then(
      () => "nothing",
      ({ message }: Error) => message,
    );
    expect(await replayed).toContain("2 of 2 recorded histories do not match today's code");
    expectQuoted(await replayed);
  });
});
