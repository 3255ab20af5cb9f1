// Packs what `npm publish` would, lints it (publint, attw), unpacks it into empty projects, and uses it there as a stranger
// would: every entry point resolves, its declarations compile without our settings or types, its code loads in Node;
// the projects of test/package compile under strict settings, and what they export has portable declarations; a Worker
// of theirs is bundled; the project of the guide "Testing" is linted, and its tests pass.
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import process from "node:process";
import { lintPackage } from "./lint-package.mjs";

const root = join(import.meta.dirname, "..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
/** The package's name, and the one that its users may install it under instead: `"rivetkit": "npm:perdure"`. */
const NAMES = [manifest.name, "rivetkit"];
const entries = Object.keys(manifest.exports)
  .filter((name) => name !== "./package.json")
  .map((name) => manifest.name + name.slice(1));
/** The entries that only a Worker can load. */
const workerOnly = new Set(["cloudflare", "db/drizzle", "testing/workers"].map((name) => `${manifest.name}/${name}`));
/** The entries that exist to say that something does not. */
const missing = new Set(["dynamic", "agent-os"].map((name) => `${manifest.name}/${name}`));
const anywhere = entries.filter((entry) => !workerOnly.has(entry) && !missing.has(entry));
/** Over a package of others whose own declarations do not compile by themselves. */
const overOthers = new Set([`${manifest.name}/db/drizzle`]);
/** All that is published. */
const PUBLISHED = /^(package\.json|README\.md|CHANGELOG\.md|LICENSE|docs\/.+\.md|dist\/.+\.(js|d\.ts))$/;
/** What an installation may have, dependencies included. */
const MAX_INSTALLED_KIB = 4_096;
/** Where published pages may link to although it is not: what is for those who have the repository. */
const IN_REPOSITORY = /^(ARCHITECTURE\.md|CONTRIBUTING\.md|examples\/)/;
/** The examples of RivetKit's workflow documentation; they lie beside the repository where the project is made. */
const SEEDS = join(root, "..", "shared", "seeds", "examples");

const WORKER = { lib: ["ES2023"], types: ["@cloudflare/workers-types"] };
/** Tests in Node, of what runs in a Worker. */
const KIT = { lib: ["ES2024", "ESNext.Disposable"], types: ["@cloudflare/workers-types", "node"] };
const BROWSER = { lib: ["ES2023", "DOM", "DOM.Iterable"], types: [] };
const BUNDLER = { module: "ESNext", moduleResolution: "Bundler" };
const NODE_NEXT = { module: "NodeNext" };
/** What careful users turn on. */
const CAREFUL = {
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  isolatedModules: true,
  verbatimModuleSyntax: true,
  noEmit: false,
  declaration: true,
  composite: true,
};

const consumer = mkdtempSync(join(tmpdir(), "perdure-consumer-"));
try {
  const tarball = pack();
  const problems = await lintPackage(tarball);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  console.log("publint, attw: clean");
  install(tarball);
  checkContents();
  const checked = entries.filter((entry) => !overOthers.has(entry));
  for (const [platform, used] of /** @type {const} */ ([
    [BROWSER, anywhere],
    [WORKER, checked],
    [{ ...WORKER, skipLibCheck: true }, entries],
  ])) {
    write(
      "entries/index.ts",
      used.map((entry, index) => `export * as e${index} from ${JSON.stringify(entry)};`).join("\n"),
    );
    compile("entries", { ...NODE_NEXT, ...platform });
  }
  const loaded = [...anywhere, ...overOthers].map((entry) => `await import(${JSON.stringify(entry)});`);
  const refused = [...missing].map(
    (entry) =>
      `await import(${JSON.stringify(entry)}).then(() => process.exit(1), ({ code }) => code === "unsupported" || process.exit(1));`,
  );
  write("load.mjs", [...loaded, ...refused].join("\n"));
  run(process.execPath, ["load.mjs"], consumer);
  console.log(`Entries: ${entries.join(", ")}`);

  for (const name of NAMES) {
    for (const resolution of [NODE_NEXT, BUNDLER]) checkProjects(name, resolution);
  }
  checkWorker();
  checkTests();
  checkWorkerFiles();
  checkInWorkerd();
  checkApps();
  checkSeeds();
  console.log("The packed package works.");
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(consumer, { recursive: true, force: true });
}

/** @returns {string} the tarball's path */
function pack() {
  if (!existsSync(join(root, "dist"))) throw new Error("There is no dist/ to pack: `npm run build` first.");
  const [packed = ""] = run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", consumer]).split(
    "\n",
  );
  return join(consumer, packed);
}

/**
 * The package under each of its names, and its dependencies.
 *
 * @param {string} tarball
 */
function install(tarball) {
  const modules = join(consumer, "node_modules");
  for (const name of NAMES) {
    mkdirSync(join(modules, name), { recursive: true });
    run("tar", ["-xzf", tarball, "-C", join(modules, name), "--strip-components=1"]);
  }
  for (const dependency of [
    ...Object.keys(manifest.dependencies),
    ...Object.keys(manifest.peerDependencies),
    "@cloudflare/workers-types",
    "@types/node",
    "@cloudflare/vitest-plugin",
    "vitest",
  ]) {
    mkdirSync(dirname(join(modules, dependency)), { recursive: true });
    symlinkSync(join(root, "node_modules", dependency), join(modules, dependency));
  }
  write("package.json", JSON.stringify({ type: "module" }));
}

/** Nothing is published by accident, and the pages' links lead somewhere. */
function checkContents() {
  const folder = join(consumer, "node_modules", manifest.name);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll("\\", "/"),
    );
  const unexpected = files.filter((file) => !PUBLISHED.test(file));
  if (unexpected.length > 0) throw new Error(`The package holds ${unexpected.join(", ")}`);
  for (const page of files.filter((each) => each.endsWith(".md"))) {
    for (const [, link = ""] of readFileSync(join(folder, page), "utf8").matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)) {
      const target = normalize(join(dirname(page), link)).replaceAll("\\", "/");
      if (!existsSync(join(folder, target)) && !IN_REPOSITORY.test(target))
        throw new Error(`${page} links to ${link}, which is not published`);
    }
  }
  const kib = [folder, ...Object.keys(manifest.dependencies).map((name) => join(root, "node_modules", name))]
    .map((each) => bytesIn(each) / 1_024)
    .reduce((sum, size) => sum + size, 0);
  if (kib > MAX_INSTALLED_KIB) throw new Error(`An installation has ${kib} KiB, more than ${MAX_INSTALLED_KIB}`);
  console.log(`Contents: ${files.length} files; ${Math.round(kib)} KiB with dependencies`);
}

/**
 * @param {string} folder
 * @returns {number}
 */
function bytesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)).size)
    .reduce((sum, size) => sum + size, 0);
}

/**
 * A project and another that sees only its declarations, which name the package as its user does.
 *
 * @param {string} name
 * @param {object} resolution
 */
function checkProjects(name, resolution) {
  const paths = { rootDir: ".", outDir: "out" };
  for (const [folder, references] of /** @type {const} */ ([
    ["project", []],
    ["app", [{ path: "../project" }]],
  ])) {
    copy(join(root, "test", "package", folder), folder, (text) => text.replaceAll(/(?<=from ")perdure/g, name));
    compile(folder, { ...resolution, ...BROWSER, ...CAREFUL, ...paths }, references);
  }
  for (const file of ["actors", "derived", "client"]) {
    const declarations = readFileSync(join(consumer, "project", "out", `${file}.d.ts`), "utf8");
    const foreign = [...declarations.matchAll(/(?:from|import\()\s*"([^".][^"]*)"/g)].map(
      ([, specifier = ""]) => specifier,
    );
    const unexpected = foreign.filter((specifier) => specifier !== name && !specifier.startsWith(`${name}/`));
    if (unexpected.length > 0 || foreign.length === 0)
      throw new Error(`project/out/${file}.d.ts imports ${unexpected.join(", ") || "nothing"}, not ${name}`);
  }
  console.log(`Projects: "${name}", ${JSON.stringify(resolution)}`);
}

function checkWorker() {
  copy(join(root, "test", "package", "worker"), "worker");
  compile("worker", { ...BUNDLER, ...WORKER, ...CAREFUL, rootDir: ".", outDir: "types" });
  const size = bundle("worker");
  console.log(`Worker beside Hono: ${size}`);
}

/** The project that the guide "Testing" shows: its linter and its tests, as its own scripts run them. */
function checkTests() {
  copy(join(root, "test", "package", "testing"), "testing");
  const folder = join(consumer, "testing");
  compile("testing", { ...BUNDLER, ...KIT, skipLibCheck: true, noUncheckedIndexedAccess: true });
  // As the page of perdure/lint shows it.
  const [, config = ""] =
    /^## With oxlint$[\s\S]*?(^ {4}\{$[\s\S]*?^ {4}\}$)/m.exec(
      readFileSync(join(root, "docs/reference/lint.md"), "utf8"),
    ) ?? [];
  write("testing/.oxlintrc.json", config);
  const node = join(root, "node_modules", ".bin", "node");
  run(node, [join(root, "node_modules", "oxlint", "bin", "oxlint"), "--deny-warnings"], folder);
  const env = { ...process.env, NO_COLOR: "1" };
  const began = Date.now();
  const output = run(node, [join(root, "node_modules", "vitest", "vitest.mjs"), "run"], folder, env);
  const tookMs = Date.now() - began;
  const [passed] = output.match(/Tests .*passed.*/) ?? [];
  if (passed === undefined) throw new Error(`vitest ran no test\n${output}`);
  console.log(`The guide's tests: ${passed.trim()}, ${tookMs} ms`);
}

/** A Worker's files, loaded by Node and by vitest: those that `perdure/testing` has a way for. */
function checkWorkerFiles() {
  copy(join(root, "test", "package", "worker-files"), "worker-files");
  compile("worker-files", {
    ...NODE_NEXT,
    ...KIT,
    allowImportingTsExtensions: true,
    allowJs: true,
    skipLibCheck: true,
  });
  const node = join(root, "node_modules", ".bin", "node");
  const here = join(consumer, "worker-files");
  run(node, ["--import", `${manifest.name}/testing/register`, "run.ts"], here);
  run(node, [join(root, "node_modules", "vitest", "vitest.mjs"), "run"], here);
  console.log("A Worker's files: loaded by Node and by vitest");
}

/** The project of the guide "Testing inside workerd", with its own settings. */
function checkInWorkerd() {
  copy(join(root, "test", "package", "in-workerd"), "in-workerd");
  run(process.execPath, [join(root, "node_modules", "typescript", "bin", "tsc"), "-p", "in-workerd"], consumer);
  const node = join(root, "node_modules", ".bin", "node");
  run(node, [join(root, "node_modules", "vitest", "vitest.mjs"), "run"], join(consumer, "in-workerd"));
  console.log("Tests inside workerd: pass");
}

/** What apps that were written for RivetKit do, with the settings that the guide names. They run in test/in-worker/. */
function checkApps() {
  copy(join(root, "test", "in-worker", "rivetkit-apps"), "apps");
  write(
    "apps/index.ts",
    'import { createHandler } from "rivetkit/cloudflare";\nimport { registry } from "./registry";\nimport ' +
      '"./trpc";\nconst handler = createHandler(registry);\nexport class ActorObject extends ' +
      "handler.ActorObject {}\nexport default handler;\n",
  );
  write("apps/wrangler.toml", readFileSync(join(root, "test", "package", "worker", "wrangler.toml"), "utf8"));
  compile("apps", { ...BUNDLER, ...WORKER, skipLibCheck: true, allowJs: true });
  console.log(`Apps written for RivetKit: ${bundle("apps")}`);
}

/**
 * @param {string} folder of a Worker
 * @returns {string} its size, as wrangler tells it
 */
function bundle(folder) {
  const wrangler = join(root, "node_modules", "wrangler", "bin", "wrangler.js");
  const env = { ...process.env, WRANGLER_SEND_METRICS: "false" };
  // wrangler wants a new Node: the project's own.
  const output = run(
    join(root, "node_modules", ".bin", "node"),
    [wrangler, "deploy", "--dry-run", "--outdir", "out"],
    join(consumer, folder),
    env,
  );
  const [size] = output.match(/Total Upload: .*/) ?? [];
  if (size === undefined || !existsSync(join(consumer, folder, "out", "index.js")))
    throw new Error(`wrangler deploy --dry-run gave no bundle\n${output}`);
  return size;
}

function checkSeeds() {
  if (!existsSync(SEEDS)) return;
  const names = readdirSync(SEEDS);
  copy(SEEDS, "seeds");
  compile("seeds", { ...BUNDLER, ...BROWSER });
  // Their clients import "./index", which only a bundler finds.
  for (const name of names) rmSync(join(consumer, "seeds", name, "client.ts"), { force: true });
  compile("seeds", { ...NODE_NEXT, ...BROWSER });
  console.log(`Seed examples, as they stand: ${names.length}`);
}

/**
 * @param {string} source
 * @param {string} folder
 * @param {(text: string) => string} [edit]
 */
function copy(source, folder, edit = (text) => text) {
  const target = join(consumer, folder);
  rmSync(target, { recursive: true, force: true });
  cpSync(source, target, { recursive: true });
  for (const file of readdirSync(target, { recursive: true, encoding: "utf8" })) {
    if (file.endsWith(".ts")) writeFileSync(join(target, file), edit(readFileSync(join(target, file), "utf8")));
  }
}

/**
 * Compiles all of a folder, with nothing left out: our declarations are checked too.
 *
 * @param {string} folder
 * @param {object} options
 * @param {readonly object[]} [references]
 */
function compile(folder, options, references = []) {
  const compilerOptions = { strict: true, noEmit: true, skipLibCheck: false, target: "ES2023", ...options };
  write(
    `${folder}/tsconfig.json`,
    JSON.stringify({ compilerOptions, references, include: ["."], exclude: ["out", "types"] }),
  );
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  run(process.execPath, [tsc, "-p", folder, "--pretty", "false"], consumer);
}

/**
 * @param {string} path
 * @param {string} text
 */
function write(path, text) {
  mkdirSync(dirname(join(consumer, path)), { recursive: true });
  writeFileSync(join(consumer, path), text);
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 * @returns {string}
 */
function run(command, args, cwd = root, env = process.env) {
  try {
    return execFileSync(command, args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    const { stdout = "", stderr = "" } = /** @type {{ stdout?: string, stderr?: string }} */ (error);
    throw new Error(`${command} ${args.join(" ")} failed in ${cwd}\n${stdout}${stderr}`, { cause: error });
  }
}
