import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { PAGE_MODULE, pageModule } from "../../scripts/inspector-page.mjs";
import { PAGE_DOCUMENT, PAGE_POLICY } from "../../src/router/internal.js";
import { filesIn, read } from "./source-files.js";

const MAX_GZIP = 60 * 1024;

const sources = filesIn("src/inspector-page/**/*.{ts,tsx}");

describe("the inspector's page", () => {
  test("is what its sources build: `npm run inspector-page` writes it", async () => {
    expect(read(PAGE_MODULE) === (await pageModule())).toBe(true);
  });

  test("is at most 60 KiB, as it is sent", () => {
    expect(gzipSync(PAGE_DOCUMENT).length).toBeLessThanOrEqual(MAX_GZIP);
  });

  test("has one script and one style, which its policy names, and nothing else may run", () => {
    const hashOf = (tag: string): string => {
      const [, text = ""] = new RegExp(`<${tag}[^>]*>([\\s\\S]*?)</${tag}>`).exec(PAGE_DOCUMENT) ?? [];
      return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    };
    expect(PAGE_DOCUMENT.match(/<script/g)).toHaveLength(1);
    expect(PAGE_DOCUMENT.match(/<style/g)).toHaveLength(1);
    expect(PAGE_POLICY.split("; ")).toEqual([
      "default-src 'none'",
      `script-src ${hashOf("script")}`,
      `style-src ${hashOf("style")}`,
      "connect-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
  });

  test("makes no markup of data", () => {
    const MAKERS =
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|srcdoc|\beval\(|new Function/i;
    expect(sources.length).toBeGreaterThan(20);
    expect(sources.filter((path) => MAKERS.test(read(path)))).toEqual([]);
  });
});
