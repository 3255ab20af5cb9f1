// The import table of this project. .oxlintrc.json says the same to editors; both are tried on seeds.ts.
import { posix } from "node:path";
import { withoutComments } from "./source-files.js";

type Access = { readonly files?: readonly string[]; readonly typesOnly?: true };
type Folder = {
  readonly why: string;
  /** Other folders it may import; of each, the files named, or `index`. */
  readonly folders: Readonly<Record<string, Access>>;
  /** Packages and platform modules, by the start of their name. */
  readonly packages?: Readonly<Record<string, Access>>;
};

const INDEX = ["index"];
const INDEX_AND_PORTS = ["index", "ports"];

export const FOLDERS: Readonly<Record<string, Folder>> = {
  protocol: { why: "protocol/ is what crosses a wire or a disk, and depends on nothing", folders: {} },
  workflow: { why: "the engine knows no platform, not even for types", folders: { protocol: {} } },
  actor: { why: "the actor runtime knows no platform, and of the engine only what its index shows", folders: { protocol: {}, workflow: {} }, packages: { croner: {} } },
  "durable-object": {
    why: "the shell is the only folder bound to the platform, and knows nobody who calls it",
    folders: { protocol: {}, workflow: {}, actor: {} },
    packages: { "cloudflare:": {} },
  },
  router: {
    why: "the router holds no state and no actor code; an object is a structural type of its own",
    folders: { protocol: {}, actor: { typesOnly: true } },
    packages: { hono: {}, "cloudflare:": { typesOnly: true } },
  },
  client: {
    why: "the client is what browsers download: protocol code and types, nothing of the server",
    folders: { protocol: {}, workflow: { typesOnly: true }, actor: { files: ["index", "api/client-types"], typesOnly: true } },
  },
  timing: { why: "timing/ is functions of time for any program, and knows nothing of ours", folders: {} },
  logging: { why: "logging/ writes log lines to the console, and knows nothing of who logs but the form of a line", folders: { protocol: {}, actor: { typesOnly: true } } },
  drizzle: {
    why: "the drizzle provider is published beside the rest, for those who have drizzle-orm, and knows only what a provider is",
    folders: { actor: { typesOnly: true } },
    packages: { "drizzle-orm": {} },
  },
  testing: {
    why: "testing/ drives the pure core, and is published, so it brings no test runner",
    folders: { protocol: {}, workflow: { files: INDEX_AND_PORTS }, actor: { files: INDEX_AND_PORTS } },
  },
  entry: {
    why: "entries only put together what the folders' indexes offer",
    folders: {
      protocol: {}, workflow: {}, actor: { files: ["index", "api/client-types"] }, "durable-object": {}, router: {}, client: {}, testing: {}, drizzle: {}, timing: {}, logging: {},
    },
    packages: { "cloudflare:": {}, hono: {} },
  },
};

export type Import = { readonly specifier: string; readonly typesOnly: boolean };

/** Every module a source names, re-exports and dynamic imports included. */
export function importsOf(source: string): Import[] {
  const pattern = /\b(?:import|export)\b(\s+type\b)?[^"'`;()]*?\bfrom\s*["']([^"']+)["']|\bimport\s*\(?\s*["']([^"']+)["']/g;
  return [...withoutComments(source).matchAll(pattern)].map((match) => ({
    specifier: match[2] ?? match[3] ?? "",
    typesOnly: match[1] !== undefined,
  }));
}

/** What is wrong with the source, one sentence each. */
export function violations(path: string, source: string): string[] {
  const imports = importsOf(source).map((found) => ({ found, reason: forbidden(path, found) }));
  return [
    ...imports.flatMap(({ found, reason }) => (reason === undefined ? [] : [`${path} imports "${found.specifier}": ${reason}`])),
    ...forbiddenCode(path, withoutComments(source)),
  ];
}

function forbidden(path: string, { specifier, typesOnly }: Import): string | undefined {
  if (path.startsWith("test/")) return forbiddenInTest(path, specifier);
  const [, folder = ""] = path.split("/");
  const rules = FOLDERS[folder];
  if (rules === undefined) return `src/${folder} is not in the table of test/architecture/import-rules.ts`;

  if (!specifier.startsWith(".")) {
    const name = Object.keys(rules.packages ?? {}).find((start) => specifier === start || specifier.startsWith(start.endsWith(":") ? start : `${start}/`));
    if (name === undefined) return rules.why;
    if (folder === "entry" && name === "cloudflare:" && path !== "src/entry/cloudflare.ts") return "only entry/cloudflare.ts is bound to the platform";
    if (rules.packages?.[name]?.typesOnly && !typesOnly) return `types only: ${rules.why}`;
    return undefined;
  }

  const target = posix.join(posix.dirname(path), specifier).replace(/\.[jt]s$/, "");
  const [, targetFolder = "", ...rest] = target.split("/");
  const targetFile = rest.join("/");
  if (targetFolder === folder) return forbiddenInside(path, targetFile);

  const access = rules.folders[targetFolder];
  if (access === undefined) return rules.why;
  const files = access.files ?? INDEX;
  if (!files.includes(targetFile)) return `of ${targetFolder}/, import ${files.join(" or ")}`;
  if (access.typesOnly && !typesOnly) return `types only: ${rules.why}`;
  return undefined;
}

function forbiddenInside(path: string, targetFile: string): string | undefined {
  if (targetFile === "index" || targetFile === "") return "inside a folder, import the file itself, or the index becomes a cycle";
  if (path.startsWith("src/workflow/ops/")) {
    if (targetFile.startsWith("ops/")) return "an operation knows no other: what two of them need is a named file one level up";
    if (targetFile === "run" || targetFile === "context") return "an operation does not know who calls it";
  }
  if (path.startsWith("src/workflow/history/") && !targetFile.startsWith("history/")) return "history/ imports only protocol/ and itself";
  return undefined;
}

const IN_WORKERD = /^test\/(durable-object\/|in-worker\/|contract\/key-value[^/]*\.test\.ts$|support\/worker(\.ts$|\/))/;

function forbiddenInTest(path: string, specifier: string): string | undefined {
  const isPlatform = specifier.startsWith("cloudflare:") || specifier.includes("/src/durable-object/");
  if (isPlatform && !IN_WORKERD.test(path)) return "only the workerd project can load the platform";
  const target = /\/src\/(.+?)(?:\.[jt]s)?$/.exec(specifier)?.[1];
  if (target === undefined || /^(testing|entry)\//.test(target) || /^[^/]+\/(index|ports)$/.test(target) || target === "workflow/internal") return undefined;
  return "tests use what a folder shows: its index, its ports, testing/, or workflow/internal";
}

const PURE = /^src\/(protocol|workflow|actor|testing)\//;

/** What lint cannot say. */
function forbiddenCode(path: string, code: string): string[] {
  const found: string[] = [];
  if (PURE.test(path) && /\bnew Date\s*(\(\s*\)|[^\s(\w])|(?<!new )\bDate\s*\(/.test(code)) found.push(`${path} reads the clock with Date(): the clock is a port`);
  if (path.startsWith("src/") && !path.endsWith("/index.ts") && /\bexport\s*(type\s*)?\*\s*from\b/.test(code)) {
    found.push(`${path} has "export *": only a folder's index does, so that an entry's surface is a list of names`);
  }
  return found;
}
