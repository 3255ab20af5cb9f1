import { describe, expect, test } from "vitest";
import { describeProject, TYPE_PROJECTS } from "../../scripts/type-projects.mjs";
import { filesIn } from "./source-files.js";

const CODE = ["{src,test,scripts,examples,bench,conformance}/**/*.{ts,tsx,mjs}", "*.ts"];
const PURE = /^src\/(protocol|workflow|actor|testing)\//;

const projects = await Promise.all(TYPE_PROJECTS.map(async (name) => ({ name, ...(await describeProject(name)) })));

describe("the projects of tsconfig.json", () => {
  test("are those of the folder tsconfig/", () => {
    const found = filesIn("tsconfig/*.json").filter((path) => path !== "tsconfig/base.json");
    expect(TYPE_PROJECTS.map((name) => `tsconfig/${name}.json`).sort()).toEqual(found);
  });

  test("name every file of code, so that each is type-checked", () => {
    const checked = new Set(projects.flatMap(({ files }) => files));
    const code = filesIn(...CODE).filter((path) => !path.includes("node_modules/"));
    expect(code.length).toBeGreaterThan(600);
    expect(code.filter((path) => !checked.has(path))).toEqual([]);
  });

  test("give the pure folders no DOM, no Workers and no Node, also in an editor, which takes the first that has the file", () => {
    const [first] = projects;
    expect(first).toMatchObject({ name: "pure", compilerOptions: { lib: ["es2023"], types: [] } });
    expect(first?.files).toEqual(filesIn("src/**/*.ts").filter((path) => PURE.test(path)));
  });

  test("build all of src but the inspector's page and the declarations that stand in for the platform, each file once", () => {
    const built = projects.filter(({ name }) => name === "build" || name === "kit").flatMap(({ files }) => files);
    expect(built.sort()).toEqual(
      filesIn("src/**/*.{ts,tsx}").filter(
        (path) => path !== "src/protocol/web-standards.d.ts" && !path.startsWith("src/inspector-page/"),
      ),
    );
  });
});
