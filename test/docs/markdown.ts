import { basename } from "node:path";
import { read } from "../architecture/source-files.js";

/** A TypeScript file that a page shows. */
export interface Block {
  /** The page's name, without folder and ending. */
  readonly page: string;
  /** Given by the block's first line, `// name.ts`, or by a comment before the block, `<!-- folder/name.ts -->`. */
  readonly file: string;
  readonly code: string;
}

/** All that is fenced as `ts` on a page. @throws if a block has no name, or two have the same */
export function blocksOf(path: string): Block[] {
  const page = basename(path, ".md");
  const blocks = [...read(path).matchAll(/(?:<!-- (\S+) -->\n)?```ts\n([\s\S]*?)```/g)].map(
    ([, shown, code = ""]): Block => {
      const name = shown ?? /^\/\/ (\S+\.ts)\n/.exec(code)?.[1];
      if (name === undefined) throw new Error(`${path}: a block without a name in its first line:\n${code}`);
      return { page, file: basename(name), code };
    },
  );
  const names = blocks.map(({ file }) => file);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`${path}: two blocks are ${twice}`);
  return blocks;
}

/** Whether a file can be run: it defines actors, is a Worker, or makes something that a Worker waits for. */
export function isRunnable({ code }: Block): boolean {
  return /^export const registry = setup\(/m.test(code) || /^export (?:default|async function) /m.test(code);
}

/** A page's text without its code: what links and headings are looked for in. */
export function proseOf(text: string): string {
  return text.replace(/^( *)(```|~~~)[\s\S]*?^\1\2$/gm, "").replace(/`[^`\n]*`/g, (code) => "x".repeat(code.length));
}

/** Targets of a page's links, images included. */
export function linksOf(text: string): string[] {
  const prose = proseOf(text);
  const inline = [...prose.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)].map(([, target = ""]) => target);
  const defined = [...prose.matchAll(/^\[[^\]]+\]:\s*(\S+)/gm)].map(([, target = ""]) => target);
  return [...inline, ...defined];
}

/** The anchors that GitHub gives a page's headings. */
export function anchorsOf(text: string): Set<string> {
  const code = text.replace(/^( *)(```|~~~)[\s\S]*?^\1\2$/gm, "");
  const anchors = new Set<string>();
  for (const [, heading = ""] of code.matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M} _-]/gu, "")
      .replaceAll(" ", "-");
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n += 1) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}
