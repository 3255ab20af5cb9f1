import { expect, test } from "vitest";
import { PAGE_MODULE } from "../../scripts/inspector-page.mjs";
import { filesIn, read, withoutComments } from "./source-files.js";

/**
 * Spreads into a call's arguments, `push(...items)` or `Math.min(...times)`: each item takes room on the stack, and from some
 * 120,000 on the call throws. What stands here never has so many.
 */
const BOUNDED = new Set([
  // Arguments of one call or event, parameters of one statement.
  "src/actor/callbacks/dispatch.ts given",
  "src/actor/callbacks/call-hook.ts args",
  // What a part is told: nothing, or one argument.
  "src/actor/lifecycle/parts.ts args",
  "src/testing/world-client.ts call",
  "src/testing/world-client.ts args",
  "src/client/connection/listeners.ts args",
  "src/client/connection/subscriptions.ts args",
  "src/durable-object/object-sql.ts parameters",
  // In the text of an error.
  "src/client/handle/action-proxy.ts args",
  // Bytes of one number.
  "src/protocol/messages/bare.ts bytes",
]);

function spreadsIn(source: string): string[] {
  const found: string[] = [];
  for (const match of source.matchAll(/[\w\])]\((?:[^()[\]{}]*,\s*)?\.\.\.([\w.#?]+)/g)) {
    let at = match.index + match[0].length;
    // A chain of calls behind it belongs to it.
    for (let depth = 0; at < source.length && (depth > 0 || /[(.\w#?]/.test(source[at] as string)); at += 1)
      depth += source[at] === "(" ? 1 : source[at] === ")" ? -1 : 0;
    // `...args: unknown[]` is a parameter, and so is what an arrow follows.
    if (!/^\s*:|^\)\s*(?::|=>)/.test(source.slice(at)))
      found.push(source.slice(match.index + match[0].length - (match[1] as string).length, at));
  }
  for (const [extreme] of source.matchAll(/Math\.(?:min|max)\([^;]*?\.\.\.\[/g)) found.push(extreme);
  return found;
}

test("nothing that may grow is spread into a call", () => {
  const found = filesIn("src/**/*.{ts,tsx}")
    .filter((path) => path !== PAGE_MODULE)
    .flatMap((path) => spreadsIn(withoutComments(read(path))).map((expression) => `${path} ${expression}`));
  // Use a loop, `concat` or `reduce` instead.
  expect(found.filter((each) => !BOUNDED.has(each))).toEqual([]);
});

test("finds spreads into calls, and no others", () => {
  expect(
    spreadsIn(
      "a.push(...b); Math.min(x, ...[...c].map((d) => e(d))); Math.max(0, ...f.keys()); g(...h.i().j((k) => (l)))",
    ),
  ).toEqual(["b", "f.keys()", "h.i().j((k) => (l))", "Math.min(x, ...["]);
  expect(
    spreadsIn(
      "const a = [...b, ...c.d()]; const e = { ...f }; function g(...h: unknown[]) {} const i = (...j) => k; l(m, (...n) => o)",
    ),
  ).toEqual([]);
});
