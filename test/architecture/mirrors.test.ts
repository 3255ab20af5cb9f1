import { expect, test } from "vitest";
import { exists, filesIn } from "./source-files.js";

test("every operation of the workflow engine has a test file of its own name", () => {
  const missing = filesIn("src/workflow/ops/*.ts")
    .map((path) => path.replace(/^src\/(.*)\.ts$/, "test/$1.test.ts"))
    .filter((path) => !exists(path));
  expect(missing).toEqual([]);
});

test("every test file of a workflow operation has its operation", () => {
  const orphans = filesIn("test/workflow/ops/*.test.ts").filter(
    (path) => !exists(path.replace(/^test\/(.*)\.test\.ts$/, "src/$1.ts")),
  );
  expect(orphans).toEqual([]);
});
