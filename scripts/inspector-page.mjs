// Builds the inspector's page into one module that exports it as a string, the form that every bundler carries. The module is
// in the repository, so that whatever reads src/ needs no step before; test/architecture/inspector-page.test.ts holds it to
// its sources. `npm run inspector-page` writes it.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const root = join(import.meta.dirname, "..");
const source = join(root, "src", "inspector-page");

/** The module that is written, from the root. */
export const PAGE_MODULE = "src/router/inspector/page-document.ts";

/** @returns {Promise<{ html: string, policy: string }>} the page, and the Content-Security-Policy that lets nothing else run */
export async function buildPage() {
  const { outputFiles } = await build({
    entryPoints: [join(source, "page.ts"), join(source, "style.css")],
    outdir: root,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    charset: "utf8",
    write: false,
    logLevel: "warning",
  });
  const textOf = (/** @type {string} */ ending) =>
    outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? "";
  const [script, style] = [textOf(".js"), textOf(".css")];
  const head =
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">';
  return {
    html:
      `<!doctype html><html lang="en"><head>${head}<title>Inspector</title><style>${style}</style></head>` +
      `<body><script type="module">${script}</script></body></html>\n`,
    policy: [
      "default-src 'none'",
      `script-src ${hashOf(script)}`,
      `style-src ${hashOf(style)}`,
      "connect-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join("; "),
  };
}

/** The text of the module. */
export async function pageModule() {
  const { html, policy } = await buildPage();
  return [
    "// Written by `npm run inspector-page` from src/inspector-page/.",
    `export const PAGE_DOCUMENT: string = ${JSON.stringify(html)};`,
    `export const PAGE_POLICY: string = ${JSON.stringify(policy)};`,
    "",
  ].join("\n");
}

/** @param {string} text */
function hashOf(text) {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

if (process.argv[1] === import.meta.filename) {
  const path = join(root, PAGE_MODULE);
  const text = await pageModule();
  if (readFileSync(path, { encoding: "utf8", flag: "a+" }) !== text) writeFileSync(path, text);
}
