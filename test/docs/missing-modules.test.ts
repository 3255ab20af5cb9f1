import { expect, test } from "vitest";

// What a program written for RivetKit may import and cannot have is told at import, in a sentence.
test.each([
  ["dynamic", () => import("rivetkit/dynamic"), "Workers for Platforms"],
  ["agent-os", () => import("rivetkit/agent-os"), "virtual machines"],
])("importing rivetkit/%s fails with what to do instead", async (name, load, instead) => {
  await expect(load()).rejects.toMatchObject({
    group: "feature",
    code: "unsupported",
    message: expect.stringContaining(instead),
  });
  await expect(load()).rejects.toThrow(`There is no "rivetkit/${name}" here`);
});
