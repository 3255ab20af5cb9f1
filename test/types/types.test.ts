import { describe, expect, test } from "vitest";
import { checkTypes, TYPE_PROJECTS } from "../../scripts/types.mjs";

// TypeScript 7 has no JavaScript API, so the type tests (*.test-d.ts) and everything else are checked by running tsc.
describe("types", () => {
  for (const name of TYPE_PROJECTS) {
    test(`tsconfig.${name}.json has no errors`, async () => {
      expect(await checkTypes(name)).toBe("");
    });
  }
});
