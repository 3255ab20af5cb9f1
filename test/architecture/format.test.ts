import { expect, test } from "vitest";
import { PAGE_MODULE } from "../../scripts/inspector-page.mjs";
import { filesIn, read } from "./source-files.js";

const MAX_CHARACTERS = 140;

test("no line of code is too long: the formatter breaks neither comments nor strings", () => {
  const code = filesIn("{src,test,scripts,examples,bench,conformance}/**/*.{ts,tsx,mjs}", "*.ts").filter(
    (path) => !path.includes("node_modules/") && path !== PAGE_MODULE,
  );
  const lines = code.flatMap((path) =>
    read(path)
      .split("\n")
      .map((line, index) => ({ line, where: `${path}:${index + 1}` })),
  );
  expect(lines.length).toBeGreaterThan(50_000);
  expect(lines.filter(({ line }) => line.length > MAX_CHARACTERS).map(({ where }) => where)).toEqual([]);
});
