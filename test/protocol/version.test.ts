import { expect, test } from "vitest";
import { PACKAGE_VERSION } from "../../src/protocol/index.js";
import { read } from "../architecture/source-files.js";

test("the version that servers answer is the package's", () => {
  expect(PACKAGE_VERSION).toBe((JSON.parse(read("package.json")) as { version: string }).version);
});
