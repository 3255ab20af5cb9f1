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
  const [, body = ""] = new RegExp(`const ${name}: [^=]*= \\{\\n([\\s\\S]*?)\\n\\};`).exec(read(TABLE)) ?? [];
  return [...body.matchAll(/^ {2}"([^"]+)":/gm)].map(([, code = ""]) => code);
}

describe("the table of codes", () => {
  test("has every code that the source makes, and no other", () => {
    // What has no code of its own: `toErrorData` and `UserError` say it by a constant.
    const constants = ["rivetkit/internal_error", "user/user_error"];
    expect(listed("CODES").toSorted()).toEqual([...new Set([...made.codes, ...constants])].toSorted());
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

  test("names each code of RivetKit's that is more than a masked 500, and none of our own", () => {
    const theirs = listed("RIVETKIT_CODES");
    expect(theirs.length).toBeGreaterThan(20);
    expect(theirs.filter((code) => listed("CODES").includes(code))).toEqual([]);
    for (const name of theirs) {
      const [group = "", code = ""] = name.split("/");
      expect([name, errorCodeInfo(group, code)]).not.toEqual([name, errorCodeInfo("nobody", "knows")]);
    }
  });

  test("is in the order of the alphabet, each code once", () => {
    for (const name of ["CODES", "RIVETKIT_CODES"]) expect(listed(name)).toEqual([...new Set(listed(name))].toSorted());
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

test("docs/reference/errors.md lists each code with its status, and says whose text the caller does not see", () => {
  const rows = [...read("docs/reference/errors.md").matchAll(/^\| `(\w+)\/(\w+)` \| (\d+)(, masked)? \| (\S.*) \|$/gm)];
  expect(rows.map(([, group, code]) => `${group}/${code}`).toSorted()).toEqual(listed("CODES").toSorted());
  for (const [, group = "", code = "", status, isMasked] of rows) {
    expect([group, code, { status: Number(status), public: isMasked === undefined }]).toEqual([
      group,
      code,
      errorCodeInfo(group, code),
    ]);
  }
});
