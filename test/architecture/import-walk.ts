// Checks sources against the table of import-rules.ts, and what no linter rule can say.
import { posix } from "node:path";
import { FOLDERS, SHOWN_TO_TESTS, WORKERD_TESTS, type Access, type Folder } from "./import-rules.ts";
import { withoutComments } from "./source-files.ts";
import { importsOf, targetOf, type Import } from "./source-imports.ts";

/** What is wrong with the source, one sentence each. */
export function violations(path: string, source: string): string[] {
  const imports = importsOf(source).flatMap((found) => {
    const reason = path.startsWith("test/") ? forbiddenInTest(path, found.specifier) : forbidden(path, found);
    return reason === undefined ? [] : [`${path} imports "${found.specifier}": ${reason}`];
  });
  return [...imports, ...forbiddenCode(path, withoutComments(source))];
}

/** The room of a file of src: "." for files directly in their folder, undefined for those above all rooms. */
export function roomOf(path: string): string | undefined {
  const [, folder = "", ...rest] = path.replace(/\.tsx?$/, "").split("/");
  if (rest.length > 1) return rest.slice(0, -1).join("/");
  return topsOf(FOLDERS[folder]).includes(rest[0] ?? "") ? undefined : ".";
}

/** Files directly in a folder that stand above all its rooms. */
export function topsOf(folder: Folder | undefined): string[] {
  return ["index", "internal", ...(folder?.tops ?? [])];
}

function forbidden(path: string, found: Import): string | undefined {
  const [, folder = ""] = path.split("/");
  const rules = FOLDERS[folder];
  if (rules === undefined) return `src/${folder} is not in the table of test/architecture/import-rules.ts`;
  if (!found.specifier.startsWith(".")) return forbiddenPackage(path, found, rules);

  const target = targetOf(path, found.specifier);
  const [, targetFolder = "", ...rest] = target.split("/");
  if (targetFolder === folder) return forbiddenInside(path, target, rules);

  const access = rules.folders[targetFolder];
  if (access === undefined) return rules.why;
  const files = access.files ?? ["index"];
  if (!files.includes(rest.join("/"))) return `of ${targetFolder}/, import ${files.join(" or ")}`;
  return forbiddenAccess(path, found, access, rules);
}

function forbiddenPackage(path: string, found: Import, rules: Folder): string | undefined {
  const starts = (name: string): boolean =>
    found.specifier === name || found.specifier.startsWith(name.endsWith(":") ? name : `${name}/`);
  const entry = Object.entries(rules.packages ?? {}).find(([name]) => starts(name));
  return entry === undefined ? rules.why : forbiddenAccess(path, found, entry[1], rules);
}

function forbiddenAccess(path: string, { typesOnly }: Import, access: Access, rules: Folder): string | undefined {
  if (access.onlyIn !== undefined && posix.basename(path, ".ts") !== access.onlyIn)
    return `only ${access.onlyIn}.ts may`;
  const takesTypes = access.typesOnly ?? (access.valuesIn && !access.valuesIn.includes(roomOf(path) ?? ""));
  return takesTypes && !typesOnly ? `types only: ${rules.why}` : undefined;
}

function forbiddenInside(path: string, target: string, { rooms }: Folder): string | undefined {
  const room = roomOf(path);
  const targetRoom = roomOf(target);
  const isFace = /^src\/[^/]+\/(index|internal)$|^src\/[^/]+$/.test(target);
  if (isFace) return "inside a folder, import the file itself, or the index becomes a cycle";
  if (room === undefined) return undefined;
  const rules = rooms[room];
  if (rules === undefined) return `${posix.dirname(path)} is no room in the table of test/architecture/import-rules.ts`;
  if (targetRoom === room) return rules.areSeparate ? "files of this room do not know each other" : undefined;
  if (targetRoom !== undefined && rules.imports.includes(targetRoom)) return undefined;
  const own = `the files of ${path.split("/")[1]}/`;
  const [name, ...imports] = [room, ...rules.imports].map((each) => (each === "." ? own : `${each}/`));
  return `${name} (${rules.why}) may import ${imports.length === 0 ? "no other room" : imports.join(", ")}`;
}

function forbiddenInTest(path: string, specifier: string): string | undefined {
  const isPlatform = specifier.startsWith("cloudflare:") || specifier.includes("/src/durable-object/");
  const isInWorkerd = WORKERD_TESTS.some((pattern) => posix.matchesGlob(path, pattern));
  if (isPlatform && !isInWorkerd) return "only the workerd project can load the platform";
  const target = /\/src\/(.+)$/.exec(specifier)?.[1];
  if (target === undefined || SHOWN_TO_TESTS.some((pattern) => posix.matchesGlob(target, pattern))) return undefined;
  return "tests use what a folder shows: its index, its ports, its internal, testing/ or entry/";
}

/** What lint cannot say. */
function forbiddenCode(path: string, code: string): string[] {
  const found: string[] = [];
  const isPure = path.startsWith("src/") && FOLDERS[path.split("/")[1] ?? ""]?.isPure;
  if (isPure && /\bnew Date\s*(\(\s*\)|[^\s(\w])|(?<!new )\bDate\s*\(/.test(code)) {
    found.push(`${path} reads the clock with Date(): the clock is a port`);
  }
  if (path.startsWith("src/") && !path.endsWith("/index.ts") && /\bexport\s*(type\s*)?\*\s*from\b/.test(code)) {
    found.push(`${path} has "export *": only a folder's index does, so that an entry's surface is a list of names`);
  }
  return found;
}
