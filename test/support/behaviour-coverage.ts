/** The tables `coverage.md`: behaviours by number, and the tests that hold them. */

export interface CoverageRow {
  readonly number: string;
  readonly behaviour: string;
  readonly tests: readonly { readonly file: string; readonly name: string }[];
  readonly note: string;
}

/** A range of numbers: `{ A: 56 }` is A1 to A56. */
export type Sections = Readonly<Record<string, number>>;

const ROW = /^\| ([A-Z]\d+) \|/;
/** Cases of the published clients are tests, too. */
const TEST = /^`(test\/[^`]+\.test\.ts|conformance\/[\w-]*cases\.mjs)` › (.+)$/;

/** Rows are `| number | behaviour | tests, with <br> between them | note |`. @throws Error where one is not */
export function readCoverage(markdown: string): CoverageRow[] {
  return markdown
    .split("\n")
    .filter((line) => ROW.test(line))
    .map((line) => {
      const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
      const [, number = "", behaviour = "", tests = "", note = ""] = cells;
      if (cells.length !== 6) throw new Error(`${number}: a row has four cells`);
      return {
        number,
        behaviour,
        note,
        tests: tests === "" ? [] : tests.split("<br>").map((test) => readTest(test.trim(), number)),
      };
    });
}

function readTest(test: string, number: string): CoverageRow["tests"][number] {
  const [, file, name] = TEST.exec(test) ?? [];
  if (!file || !name) throw new Error(`${number}: "${test}" is no test`);
  return { file, name };
}

/**
 * What is wrong with a table: numbers that are missing, strange or twice in it, out of their order, without a behaviour, without
 * a test and a reason, or with a test that `sourceOf` (a file's text, undefined if there is none) does not have as a quoted text.
 */
export function coverageProblems(
  rows: readonly CoverageRow[],
  sections: Sections,
  sourceOf: (file: string) => string | undefined,
): string[] {
  const expected = Object.entries(sections).flatMap(([letter, count]) =>
    Array.from({ length: count }, (_, n) => `${letter}${n + 1}`),
  );
  const given = rows.map(({ number }) => number);
  const present = expected.filter((number) => given.includes(number));
  return [
    ...expected.filter((number) => !given.includes(number)).map((number) => `${number} is missing`),
    ...given
      .filter((number) => !expected.includes(number))
      .map((number) => `${number} is no behaviour of these sections`),
    ...given.filter((number, index) => given.indexOf(number) !== index).map((number) => `${number} has two rows`),
    ...(given.filter((number) => expected.includes(number)).join() === present.join() || given.length !== present.length
      ? []
      : ["the rows are out of order"]),
    ...rows.filter(({ behaviour }) => behaviour === "").map(({ number }) => `${number} does not say what it is`),
    ...rows
      .filter(({ tests, note }) => tests.length === 0 && note === "")
      .map(({ number }) => `${number} has neither a test nor a reason`),
    ...rows.flatMap(({ number, tests }) =>
      tests
        .filter(({ file, name }) => !hasTest(sourceOf(file), name))
        .map(({ file, name }) => `${number}: there is no test ${file} › ${name}`),
    ),
  ];
}

function hasTest(source: string | undefined, name: string): boolean {
  return source !== undefined && ['"', "'", "`"].some((quote) => source.includes(`${quote}${name}${quote}`));
}
