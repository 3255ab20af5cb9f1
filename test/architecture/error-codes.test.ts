import { describe, expect, test } from "vitest";
import { errorCodeInfo } from "../../src/protocol/internal.js";
import { filesIn, read, withoutComments } from "./source-files.js";

const TABLE = filesIn("src/protocol/**/error-codes.ts")[0] as string;

/** Where a code is not spelt where its error is made: what stands there instead, and the codes that it can be. */
const COMPUTED: Readonly<Record<string, readonly string[]>> = {
  // The code that another error, or a caller, has given.
  "error.group": [],
  "data.group": [],
  "stored.group": [],
  group: [],
  // `invalid_${kind}` of a join or a race.
  '"workflow", `invalid_${kind}`': ["workflow/invalid_join", "workflow/invalid_race"],
  // Of `numberProblem`, whose callers name it.
  '"workflow", code': [],
};

/** What makes an error with a code, by its name; how it spells the code; and what it can be without one. */
const MAKERS: readonly { readonly call: RegExp; readonly spelt: RegExp; readonly group?: string }[] = [
  { call: /new (?:ActorError|RivetError)\(\s*/g, spelt: /^"(?<group>\w+)",\s*"(?<code>\w+)"/ },
  { call: /new ActorClientError\(\s*/g, spelt: /^"(?<code>\w+)"/, group: "client" },
  { call: /numberProblem\((?!what: string)/g, spelt: /^[^,]+, "(?<code>\w+)"/, group: "workflow" },
];

/** The classes of the engine and of the client name their code where they are declared. */
const CLASSES: readonly { readonly base: string; readonly spelt: RegExp; readonly group: string }[] = [
  { base: "EngineError", spelt: /^super\("\w+", (?:[^;]*? \?\? )?"(\w+)"/, group: "workflow" },
  { base: "ActorClientError", spelt: /^super\("(\w+)"/, group: "client" },
];

/** Errors that are data, reasons of a close, lines of the log, classes that take a code of their own, and the one default. */
const LITERALS: readonly RegExp[] = [
  /group: "(?<group>\w+)", code: "(?<code>\w+)"/g,
  /(?:reason: |close\(\d+, )"(?<group>[a-z]+)\.(?<code>\w+)"/g,
  /\bcode: "(?<group>[a-z]+)\/(?<code>\w+)"/g,
  /new (?:CriticalError|HistoryDivergedError)\([^;]*?\bcode: "(?<code>\w+)"/g,
  /group = "(?<group>\w+)", code = INTERNAL_ERROR_CODE/g,
];

interface Made {
  readonly codes: Set<string>;
  /** Calls whose code is not spelt, by file. */
  readonly unspelt: string[];
}

function madeIn(files: readonly (readonly [path: string, source: string])[]): Made {
  const made: Made = { codes: new Set(), unspelt: [] };
  for (const [path, source] of files) {
    for (const { call, spelt, group } of MAKERS)
      for (const { index, 0: found } of source.matchAll(call))
        readCall(made, path, source.slice(index + found.length), spelt, group);
    for (const { base, spelt, group } of CLASSES) {
      for (const { index } of source.matchAll(new RegExp(`class \\w+ extends ${base} `, "g"))) {
        const [, code] = spelt.exec(source.slice(source.indexOf("super(", index))) ?? [];
        if (code === undefined) made.unspelt.push(`${path} ${source.slice(index, index + 60)}`);
        else made.codes.add(`${group}/${code}`);
      }
    }
    for (const literal of LITERALS)
      for (const { groups } of source.matchAll(literal))
        made.codes.add(`${groups?.["group"] ?? "workflow"}/${groups?.["code"] ?? "internal_error"}`);
  }
  return made;
}

function readCall(
  { codes, unspelt }: Made,
  path: string,
  given: string,
  spelt: RegExp,
  group: string | undefined,
): void {
  const call = given.slice(0, given.search(/\);|\)\s*$/m));
  const { groups } = spelt.exec(call) ?? {};
  if (groups) return void codes.add(`${groups["group"] ?? group}/${groups["code"]}`);
  const computed = Object.keys(COMPUTED).find((each) => call.startsWith(each));
  for (const code of computed === undefined ? [] : (COMPUTED[computed] ?? [])) codes.add(code);
  if (computed === undefined) unspelt.push(`${path} ${call.slice(0, 60)}`);
}

/** Arguments and fields on one line, however the formatter broke them. */
function onOneLine(source: string): string {
  return source.replace(/\(\s+/g, "(").replace(/,\s+/g, ", ");
}

const SOURCE = filesIn("src/**/*.ts")
  .filter((path) => path !== TABLE)
  .map((path) => [path, onOneLine(withoutComments(read(path)))] as const);
const made = madeIn(SOURCE);

/** The codes of one of the lists in the table's file. */
function listed(name: string): string[] {
  const [, body = ""] = new RegExp(`const ${name}: Codes = \\{\\n([\\s\\S]*?)\\n\\};`).exec(read(TABLE)) ?? [];
  return [...body.matchAll(/^ {2}(\w+): \{\n([\s\S]*?)^ {2}\},$/gm)].flatMap(([, group, statuses = ""]) =>
    [...statuses.matchAll(/"([^"]+)"/g)].flatMap(([, words = ""]) =>
      words
        .trim()
        .split(" ")
        .map((code) => `${group}/${code}`),
    ),
  );
}

/** The page that lists every code with its status, and says whose text the caller does not see. */
const PAGE = [
  ...read("docs/reference/errors.md").matchAll(/^\| `(\w+)\/(\w+)` \| (\d+)(, masked)? \| (\S.*) \|$/gm),
].map(([, group = "", code = "", status, masked]) => ({
  name: `${group}/${code}`,
  info: { status: Number(status), public: masked === undefined },
}));

function infoOf(name: string): unknown {
  const [group = "", code = ""] = name.split("/");
  return errorCodeInfo(group, code);
}

describe("docs/reference/errors.md", () => {
  test("has every code that the source makes, and no other", () => {
    // What has no code of its own: `toErrorData` and `UserError` say it by a constant.
    const constants = ["rivetkit/internal_error", "user/user_error"];
    expect(PAGE.map(({ name }) => name).toSorted()).toEqual([...new Set([...made.codes, ...constants])].toSorted());
    expect(made.codes.size).toBeGreaterThan(150);
  });

  test("can be compared with the source: whatever makes an error spells its code, or is known", () => {
    expect(made.unspelt).toEqual([]);
    for (const known of Object.keys(COMPUTED))
      expect(
        SOURCE.some(([, source]) => source.includes(`new ActorError(${known}`)),
        known,
      ).toBe(true);
  });

  test("says of each code the status and the visibility that it has", () => {
    expect(PAGE).toEqual(PAGE.map(({ name }) => ({ name, info: infoOf(name) })));
  });
});

describe("the table of codes", () => {
  const theirs = [...listed("RIVETKIT_PUBLIC"), ...listed("RIVETKIT_MASKED")];
  const ours = [...listed("PUBLIC"), ...listed("MASKED")];

  test("has codes of ours that the page has, and of RivetKit's that are none of ours", () => {
    const names = new Set(PAGE.map(({ name }) => name));
    expect(ours.filter((name) => !names.has(name))).toEqual([]);
    expect(theirs.filter((name) => names.has(name))).toEqual([]);
    expect(ours.length).toBeGreaterThan(60);
    expect(theirs.length).toBeGreaterThan(20);
  });

  test("names each code once, and none that is what any other code of its group is", () => {
    const all = [...ours, ...theirs];
    expect(all).toEqual([...new Set(all)]);
    for (const name of all)
      expect([name, infoOf(name)]).not.toEqual([name, infoOf(`${name.split("/")[0]}/nobody_knows`)]);
  });
});

describe("what is read from the source", () => {
  const found = (source: string): Made => madeIn([["a.ts", source]]);

  test("is a code wherever one can stand", () => {
    const source = [
      'throw new ActorError("a", "b", "m");',
      'return new RivetError(\n  "c",\n  "d",\n  `m`,\n);',
      'throw new ActorClientError("e", "m");',
      'class F extends ActorClientError {\n  constructor() {\n    super("f", "m");',
      'class G extends EngineError {\n constructor() { super("G", own(options, "code") ?? "g", m);',
      'new CriticalError(m, { cause, code: "h" });',
      'const I = { group: "i", code: "j", message };',
      'close({ code: 1013, reason: "k.l" });',
      'numberProblem(`Loop "${x}"`, "n", o);',
    ];
    expect([...found(source.join("\n")).codes].toSorted()).toEqual([
      "a/b",
      "c/d",
      "client/e",
      "client/f",
      "i/j",
      "k/l",
      "workflow/g",
      "workflow/h",
      "workflow/n",
    ]);
  });

  test("is missed by none that is computed", () => {
    expect(found('throw new ActorError("a", code, "m");').unspelt).toEqual(['a.ts "a", code, "m"']);
    expect(found("class F extends EngineError {\n  constructor() {\n    super(name, code);").unspelt).toHaveLength(1);
  });
});
