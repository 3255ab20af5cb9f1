import { describe, expect, test } from "vitest";
import { exists, filesIn, read, withoutComments } from "./source-files.js";

// A cheap report of the public API: a name that appears or goes shows in a diff of surface/*.txt. To accept it, run
// `npx vitest run --project engine test/architecture/surface.test.ts -u`.

const entries = filesIn("src/entry/**/*.ts");

describe("public surface", () => {
  test("package.json exports exactly the entry files", () => {
    if (!exists("src/entry")) return;
    const { exports } = JSON.parse(read("package.json")) as {
      exports: Record<string, string | { types: string; default: string }>;
    };
    const targets = Object.values(exports).filter((target) => typeof target !== "string");
    const sources = (kind: "types" | "default", end: string): string[] =>
      targets.map((target) => target[kind].replace("./dist/", "src/").replace(new RegExp(`${end}$`), ".ts")).sort();
    expect(sources("default", "\\.js")).toEqual(entries);
    expect(sources("types", "\\.d\\.ts")).toEqual(entries);
  });

  test.each(entries)("%s exports the names it is known for", async (path) => {
    const names = exportedNames(read(path));
    expect(names.length).toBeGreaterThan(0);
    await expect(`${names.join("\n")}\n`).toMatchFileSnapshot(
      `surface/${path.slice("src/entry/".length, -".ts".length).replaceAll("/", "-")}.txt`,
    );
  });

  test("types and values are told apart", () => {
    const source =
      'export { a, type B, c as d } from "./x.js";\nexport type { E } from "./y.js";\nexport function f() ' +
      "{}\nexport interface G {}\nexport const h = 1;\n// export const i = 2;";
    expect(exportedNames(source)).toEqual(["a", "d", "f", "h", "type B", "type E", "type G"]);
  });
});

/** Entries have no `export *` (see imports.test.ts), so their text names all that they export. */
function exportedNames(source: string): string[] {
  const code = withoutComments(source);
  const lists = [...code.matchAll(/\bexport\s+(type\s+)?\{([^}]*)\}/g)].flatMap(([, allTypes, list = ""]) =>
    list
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "")
      .map((item) => {
        const name =
          item
            .replace(/^type\s+/, "")
            .split(/\s+as\s+/)
            .at(-1) ?? "";
        return allTypes !== undefined || /^type\s/.test(item) ? `type ${name}` : name;
      }),
  );
  const declared = [
    ...code.matchAll(
      /\bexport\s+(?:declare\s+|abstract\s+|async\s+)*(function|class|const|let|type|interface|enum)\b\s*\*?\s*(\w+)/g,
    ),
  ].map(([, kind = "", name = ""]) => (kind === "type" || kind === "interface" ? `type ${name}` : name));
  return [...new Set([...lists, ...declared])].sort();
}
