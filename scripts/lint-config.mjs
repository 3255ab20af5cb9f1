// `npm run lint-config` writes .oxlintrc.json: the rules below, and the import table of test/architecture/import-rules.ts,
// so that an editor shows what the tests refuse.
//
// An override replaces a rule as a whole, so each room has all of its patterns. A regex has no look-ahead: "anything but croner"
// is spelt by its letters. A group's exception (`!…`) also ends the search through the patterns after it: they come last.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { FOLDERS, SHOWN_TO_TESTS, WORKERD_TESTS } from "../test/architecture/import-rules.ts";

/**
 * @typedef {import("../test/architecture/import-rules.ts").Folder} Folder
 * @typedef {{ regex?: string, group?: string[], allowTypeImports?: true, message: string }} Pattern
 */

const PATH = ".oxlintrc.json";
const HEAD = "// Written by `npm run lint-config` (scripts/lint-config.mjs) from test/architecture/import-rules.ts.\n";
const WIDTH = 160;

const BASE = {
  plugins: ["eslint", "typescript", "unicorn", "oxc", "import", "vitest"],
  categories: { correctness: "error" },
  ignorePatterns: ["dist", ".wrangler", "src/router/inspector/page-document.ts"],
  rules: {
    "import/no-cycle": ["error", { ignoreTypes: false }],
    // The compiler knows better which names a module has.
    "import/namespace": "off",
    "import/default": "off",
    "unicorn/filename-case": ["error", { case: "kebabCase" }],
    "vitest/no-focused-tests": "error",
    "vitest/no-disabled-tests": "error",
    // Tests assert through helpers and contract suites, and expect() takes a message.
    "vitest/expect-expect": "off",
    "vitest/valid-expect": "off",
    "vitest/require-to-throw-message": "off",
    "vitest/no-conditional-expect": "off",
  },
};

const OVERRIDES = [
  {
    files: ["src/**", "scripts/**", "examples/**"],
    rules: { "max-lines": ["error", { max: 300, skipBlankLines: true, skipComments: true }] },
  },
  { files: ["src/**"], rules: { "import/no-default-export": "error", "no-console": "error" } },
  // A linter loads a plugin by its default.
  { files: ["src/entry/lint.ts"], rules: { "import/no-default-export": "off" } },
  // Tests build the odd values on purpose.
  {
    files: ["test/**"],
    rules: { "no-sparse-arrays": "off", "unicorn/no-new-array": "off", "unicorn/no-thenable": "off" },
  },
];

const PURE_RULES = {
  "no-restricted-globals": [
    "error",
    { name: "setTimeout", message: "Timers are a port." },
    { name: "setInterval", message: "Timers are a port." },
    { name: "setImmediate", message: "Timers are a port." },
    { name: "clearTimeout", message: "Timers are a port." },
    { name: "clearInterval", message: "Timers are a port." },
    { name: "scheduler", message: "Yielding is a port." },
    { name: "performance", message: "The clock is a port." },
    { name: "crypto", message: "Ids and randomness are a port." },
    { name: "console", message: "The log is a port." },
    { name: "process", message: "Pure folders run on any platform." },
    { name: "Buffer", message: "Pure folders run on any platform." },
    { name: "fetch", message: "Calls to the outside are a port." },
    { name: "WebSocket", message: "Calls to the outside are a port." },
  ],
  "no-restricted-properties": [
    "error",
    { object: "Date", property: "now", message: "The clock is a port." },
    { object: "Math", property: "random", message: "Ids and randomness are a port." },
  ],
};

const SEPARATE = "Files of this room do not know each other: what two of them need is a named file of a room below.";
const INSIDE = "Inside a folder, import the file itself, by the shortest path.";

/** The whole text of .oxlintrc.json. */
export function lintConfig() {
  const pure = Object.entries(FOLDERS).flatMap(([name, { isPure }]) => (isPure ? [`src/${name}/**`] : []));
  const overrides = [
    ...OVERRIDES,
    { files: pure, rules: PURE_RULES },
    ...Object.entries(FOLDERS).flatMap(([name, folder]) => folderOverrides(name, folder)),
    ...testOverrides(),
  ];
  return `${HEAD}${print({ ...BASE, overrides }, "")}\n`;
}

/**
 * One override for each room, one for the files above them, and one for each file that may do more.
 *
 * @param {string} name
 * @param {Folder} folder
 */
function folderOverrides(name, folder) {
  const tops = ["index", "internal", ...(folder.tops ?? [])];
  const rooms = Object.keys(folder.rooms);
  const isFlat = rooms.length === 1 && folder.tops === undefined;
  const single = Object.values(folder.packages ?? {}).flatMap(({ onlyIn }) => (onlyIn === undefined ? [] : [onlyIn]));
  return [
    // "." first: other overrides take single files out of it.
    ...rooms
      .toSorted((a, b) => Number(b === ".") - Number(a === "."))
      .map((room) =>
        importOverride(
          [room === "." ? `src/${name}/*` : `src/${name}/${room}/**`],
          [...outside(name, folder, room === "." ? "../" : "../../", room), ...inside(name, folder, room)],
        ),
      ),
    ...(isFlat
      ? []
      : [
          importOverride(
            tops.map((file) => `src/${name}/${file}.ts`),
            [...outside(name, folder, "../", ""), indexOf("./")],
          ),
        ]),
    ...single.map((file) =>
      importOverride(
        [`src/${name}/${file}.ts`],
        [...outside(name, folder, "../", ".", file), ...inside(name, folder, ".")],
      ),
    ),
  ];
}

/**
 * What a file may not take of other folders and packages.
 *
 * @param {string} name
 * @param {Folder} folder
 * @param {string} up the way to src
 * @param {string} room
 * @param {string} [file]
 * @returns {Pattern[]}
 */
function outside(name, folder, up, room, file) {
  const why = sentence(folder.why);
  const others = Object.keys(FOLDERS).filter((other) => other !== name && folder.folders[other] === undefined);
  const packages = Object.entries(folder.packages ?? {});
  const allowed = packages.filter(([, { onlyIn }]) => onlyIn === undefined || onlyIn === file);
  return [
    ...(others.length === 0 ? [] : [{ regex: `^${escaped(up)}(${others.join("|")})/`, message: why }]),
    { regex: `^${escaped(up)}${name}/`, message: INSIDE },
    ...Object.entries(folder.folders).flatMap(([other, { typesOnly, valuesIn }]) =>
      (typesOnly ?? (valuesIn && !valuesIn.includes(room))) ? [typesOf(`${up}${other}/`, why)] : [],
    ),
    { regex: anythingBut([".", ...allowed.map(([start]) => start)]), message: why },
    ...allowed.flatMap(([start, { typesOnly }]) => (typesOnly ? [typesOf(start, why)] : [])),
    ...Object.entries(folder.folders).map(([other, { files = ["index"] }]) => ({
      group: [`${up}${other}/**`, ...files.map((path) => `!${up}${other}/${path}.js`)],
      message: `Of ${other}/, import ${files.join(" or ")}.`,
    })),
  ];
}

/**
 * What a room may not take of its own folder.
 *
 * @param {string} name
 * @param {Folder} folder
 * @param {string} room
 * @returns {Pattern[]}
 */
function inside(name, folder, room) {
  const up = room === "." ? "./" : "../";
  const { imports = [], areSeparate } = folder.rooms[room] ?? {};
  const below = imports.filter((other) => other !== ".").map((other) => `${other}/`);
  const shown = room === "." || !imports.includes(".") ? below : [`the files of ${name}/`, ...below];
  const list = shown.length === 0 ? `no other room of ${name}/` : shown.join(", ");
  const message = sentence(`${room === "." ? name : room}/ may import ${list}`);
  const rooms = Object.keys(folder.rooms).filter(
    (other) => other !== "." && other !== room && !imports.includes(other),
  );
  const seesFiles = room === "." || imports.includes(".");
  const files = seesFiles ? (folder.tops ?? []) : ["[^./]+"];
  return [
    indexOf(up),
    ...(rooms.length === 0 ? [] : [{ regex: `^${escaped(up)}(${rooms.join("|")})/`, message }]),
    ...(files.length === 0 ? [] : [{ regex: `^${escaped(up)}(${files.join("|")})\\.[jt]s$`, message }]),
    ...(areSeparate ? [{ regex: "^\\./", message: SEPARATE }] : []),
  ];
}

function testOverrides() {
  const group = ["**/src/*/**", ...SHOWN_TO_TESTS.map((pattern) => `!**/src/${pattern}`)];
  /** @type {Pattern} */
  const shown = {
    group,
    message: "Tests use what a folder shows: its index, its ports, its internal, testing/ or entry/.",
  };
  return [
    importOverride(
      ["test/**"],
      [
        { regex: "/src/durable-object/", message: "Only the workerd project can load the object class." },
        { regex: "^cloudflare:", message: "Only the workerd project can load the platform's modules." },
        shown,
      ],
    ),
    importOverride(WORKERD_TESTS, [shown]),
  ];
}

/**
 * @param {string[]} files
 * @param {Pattern[]} patterns
 */
function importOverride(files, patterns) {
  return { files, rules: { "no-restricted-imports": ["error", { patterns: merged(patterns) }] } };
}

/**
 * Patterns with the same message are one; groups come last.
 *
 * @param {Pattern[]} patterns
 * @returns {Pattern[]}
 */
function merged(patterns) {
  const groups = patterns.filter(({ group }) => group !== undefined);
  /** @type {Map<string, Pattern[]>} */
  const byMessage = new Map();
  for (const pattern of patterns) {
    if (pattern.group === undefined)
      byMessage.set(pattern.message, [...(byMessage.get(pattern.message) ?? []), pattern]);
  }
  const regexes = [...byMessage.values()].map(([first, ...more]) => {
    if (first === undefined || more.length === 0) return first;
    const ways = [first, ...more].map(({ regex = "" }) => regex.slice(1));
    return { ...first, regex: `^(${ways.join("|")})` };
  });
  return [...regexes.filter((pattern) => pattern !== undefined), ...groups];
}

/**
 * @param {string} start
 * @param {string} why
 * @returns {Pattern}
 */
function typesOf(start, why) {
  return { regex: `^${escaped(start)}`, allowTypeImports: true, message: `Types only: ${why}` };
}

/**
 * @param {string} up
 * @returns {Pattern}
 */
function indexOf(up) {
  return { regex: `^${escaped(up)}(index|internal)\\.[jt]s$`, message: INSIDE };
}

/**
 * Matches a specifier that starts with none of these: for "croner", what does not start with c, or with c but not with cr, …
 *
 * @param {string[]} starts a package, whose subpaths are allowed too, or a start that ends in punctuation
 */
function anythingBut(starts) {
  const words = starts.map((start) => (/\w$/.test(start) ? `${start}/` : start));
  /** @type {Map<string, Set<string>>} */
  const next = new Map();
  for (const word of words) {
    for (let length = 0; length < word.length; length += 1) {
      const begun = word.slice(0, length);
      next.set(begun, (next.get(begun) ?? new Set()).add(word.charAt(length)));
    }
  }
  const ways = [...next].map(([begun, letters]) => {
    const other = `[^${[...letters].join("")}]`;
    // It may also end too early, but for a package itself.
    return begun === "" || starts.includes(begun) ? `${escaped(begun)}${other}` : `${escaped(begun)}(${other}|$)`;
  });
  return ways.length === 1 ? `^${ways[0]}` : `^(${ways.join("|")})`;
}

/** @param {string} plain */
function escaped(plain) {
  return plain.replaceAll(".", "\\.");
}

/** @param {string} words */
function sentence(words) {
  const isPath = /^[\w.-]+\//.test(words);
  return `${isPath ? words.charAt(0) : words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/**
 * JSON, on one line where it fits; what has only one long part, its last, begins on the line it stands on.
 *
 * @param {unknown} value
 * @param {string} indent
 * @returns {string}
 */
function print(value, indent) {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const items = Object.entries(value).map(([key, item]) => ({ name: isList ? "" : `${JSON.stringify(key)}: `, item }));
  const inLine = items.map(({ name, item }) => `${name}${print(item, "")}`);
  const [open, close] = isList ? ["[", "]"] : ["{ ", " }"];
  const flat = `${open}${inLine.join(", ")}${close}`;
  if (!flat.includes("\n") && indent.length + flat.length <= WIDTH) return flat;

  const last = items.at(-1);
  const before = `${open}${inLine
    .slice(0, -1)
    .map((item) => `${item}, `)
    .join("")}${last?.name}`;
  const isTail = isList ? items.slice(0, -1).every(({ item }) => typeof item === "string") : items.length <= 2;
  if (isTail && !before.includes("\n") && indent.length + before.length <= WIDTH)
    return `${before}${print(last?.item, indent)}${close}`;

  const deeper = `${indent}  `;
  return `${open.trim()}\n${items.map(({ name, item }) => `${deeper}${name}${print(item, deeper)}`).join(",\n")}\n${indent}${close.trim()}`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(join(import.meta.dirname, "..", PATH), lintConfig());
