// publint and attw ("are the types wrong?") over a packed tarball, through their libraries: the attw command brings forty
// more packages than its core.
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { problemAffectsResolutionKind } from "@arethetypeswrong/core/problems";
import { readFileSync } from "node:fs";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

/**
 * Where a package that is all ES modules can be used. The others are TypeScript's old `node10`, which knows no `exports`,
 * and `require` from CommonJS, which gets a module in every Node that we support.
 *
 * @type {import("@arethetypeswrong/core").ResolutionKind[]}
 */
const RESOLUTIONS = ["node16-esm", "bundler"];

/**
 * What is wrong with a package as it would be published, one line each; suggestions too.
 *
 * @param {string} tarball path of a .tgz
 * @returns {Promise<string[]>}
 */
export async function lintPackage(tarball) {
  const bytes = new Uint8Array(readFileSync(tarball));
  const { messages, pkg } = await publint({ pack: { tarball: bytes.slice().buffer }, strict: true });
  const problems = messages.map(
    (message) => `publint: ${formatMessage(message, pkg, { color: false }) ?? message.code}`,
  );
  const analysis = await checkPackage(createPackageFromTarballData(bytes));
  if (analysis.types === false) return [...problems, "attw: it has no types"];
  for (const problem of analysis.problems) {
    if (!RESOLUTIONS.some((kind) => problemAffectsResolutionKind(problem, kind, analysis))) continue;
    const { kind, ...where } = problem;
    problems.push(`attw: ${kind} ${JSON.stringify(where)}`);
  }
  return problems;
}
