/** The requests that a double is for: a URL, the beginning of one before a `*`, or a RegExp or URLPattern for the whole. */
export type FetchTarget = string | URL | RegExp | { test(url: string): boolean };

/** A target as it is compared with URLs, and as people read it. */
export interface ReadTarget {
  readonly text: string;
  fits(url: URL): boolean;
}

/** @throws what `fail` makes, when the target is none */
export function readTarget(target: unknown, fail: (problem: string) => TypeError): ReadTarget {
  if (target instanceof RegExp) return { text: String(target), fits: (url) => wholeOf(url).search(target) !== -1 };
  if (typeof target === "string" || target instanceof URL) return readUrl(String(target), fail);
  if (isPattern(target)) return { text: "a URLPattern", fits: (url) => target.test(wholeOf(url)) };
  throw fail('the first argument must be a URL, such as "https://api.example.com/charges", a RegExp or a URLPattern');
}

function readUrl(text: string, fail: (problem: string) => TypeError): ReadTarget {
  const isPrefix = text.endsWith("*");
  const given = isPrefix ? text.slice(0, -1) : text;
  if (!URL.canParse(given)) throw fail(`${JSON.stringify(text.slice(0, 200))} is no URL with a scheme and a host`);
  const parsed = new URL(given);
  const wanted = wholeOf(parsed);
  if (isPrefix) return { text, fits: (url) => wholeOf(url).startsWith(wanted) };
  return { text, fits: (url) => wholeOf(url) === wanted || (parsed.search === "" && withoutQuery(url) === wanted) };
}

function isPattern(target: unknown): target is { test(url: string): boolean } {
  return typeof target === "object" && target !== null && "test" in target && typeof target.test === "function";
}

/** Without the fragment, which no request has. */
function wholeOf(url: URL): string {
  return `${withoutQuery(url)}${url.search}`;
}

function withoutQuery({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`;
}
