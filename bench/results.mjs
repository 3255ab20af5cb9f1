// The figures that are kept in bench/results/, and the page that is made of the newest.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { page } from "./page.mjs";

const RESULTS = join(import.meta.dirname, "results");
const PAGE = join(import.meta.dirname, "..", "docs", "speed.md");

/**
 * @param {{ date: string }} report
 * @param {string | undefined} against
 */
export function keep(report, against) {
  mkdirSync(RESULTS, { recursive: true });
  const name = [report.date.slice(0, 10), ...(against === undefined ? [] : [against])].join("-");
  writeFileSync(join(RESULTS, `${name}.json`), `${JSON.stringify(report, undefined, 2)}\n`);
}

export function writePage() {
  writeFileSync(PAGE, page(newest(/^[\d-]+\.json$/), newest(/^[\d-]+-peers\.json$/)));
}

/** Names begin with the date. @param {RegExp} name */
function newest(name) {
  const found = existsSync(RESULTS) ? readdirSync(RESULTS).filter((each) => name.test(each)) : [];
  const last = found.sort().at(-1);
  return last === undefined ? undefined : JSON.parse(readFileSync(join(RESULTS, last), "utf8"));
}
