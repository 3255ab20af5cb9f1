import { dirname, join, normalize } from "node:path";
import { describe, expect, it, test } from "vitest";
import { exists, filesIn, read } from "../architecture/source-files.js";
import { anchorsOf, linksOf } from "./markdown.js";

const pages = filesIn("*.md", "{.ci,bench,conformance,docs,examples,scripts,src,test}/**/*.md").filter(
  (path) => !path.includes("node_modules"),
);

describe("a link in the documentation", () => {
  test.each(pages)("of %s leads to a file of the repository, and to a heading in it", (page) => {
    const broken = linksOf(read(page)).filter((link) => !/^[a-z]+:/i.test(link) && !leads(page, link));
    expect(broken).toEqual([]);
  });

  it("leads from the README to every page: each is reached by links", () => {
    const reached = new Set<string>();
    const visit = (page: string): void => {
      if (reached.has(page)) return;
      reached.add(page);
      for (const link of linksOf(read(page))) {
        const target = targetOf(page, link);
        if (!/^[a-z]+:/i.test(link) && target.endsWith(".md") && exists(target)) visit(target);
      }
    };
    visit("README.md");
    expect(pages.filter((page) => page.startsWith("docs/") && !reached.has(page))).toEqual([]);
  });
});

describe("the link checker", () => {
  it("sees links in prose, and none in code", () => {
    const text = 'a [b](c.md "d") `[e](f)` ![g](h.png)\n\n```ts\n[i](j)\n```\n[k](#l)\n\n[m]: n.md\n';
    expect(linksOf(text)).toEqual(["c.md", "h.png", "#l", "n.md"]);
  });

  it("finds what leads nowhere", () => {
    expect(leads("README.md", "no-such-file.md")).toBe(false);
    expect(leads("README.md", "ARCHITECTURE.md#no-such-heading")).toBe(false);
    expect(leads("README.md", "ARCHITECTURE.md#the-life-of-a-call")).toBe(true);
  });

  it("names headings as GitHub does", () => {
    const text = "# `ctx.step` and `ctx.sleep`\n## What's *new*?\n### A — B\n## What's new\n```\n# no heading\n```\n";
    expect([...anchorsOf(text)]).toEqual(["ctxstep-and-ctxsleep", "whats-new", "a--b", "whats-new-1"]);
  });
});

function targetOf(page: string, link: string): string {
  const path = decodeURIComponent(link.replace(/#.*$/, ""));
  return path === ""
    ? page
    : normalize(join(dirname(page), path))
        .replaceAll("\\", "/")
        .replace(/\/$/, "");
}

function leads(page: string, link: string): boolean {
  const target = targetOf(page, link);
  const anchor = /#(.+)$/.exec(link)?.[1];
  if (target.startsWith("..") || !exists(target)) return false;
  return anchor === undefined || (target.endsWith(".md") && anchorsOf(read(target)).has(decodeURIComponent(anchor)));
}
