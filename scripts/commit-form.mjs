// The form of commits: `area: what changed`, then why. `node scripts/commit-form.mjs` says what is wrong with those since
// this file came, `node scripts/commit-form.mjs main` with those since main.
import { execFileSync } from "node:child_process";
import { basename, dirname, join, relative } from "node:path";
import process from "node:process";

const MAX_SUBJECT = 72;
/** The area of what lies in no folder. */
const TOP = "project";
const TRAILER = /^[A-Z][\w-]+: /;

/**
 * What is wrong with the message of a commit.
 *
 * @param {string} message
 * @param {ReadonlySet<string>} folders names that may stand as an area
 * @returns {string[]}
 */
export function problemsOf(message, folders) {
  const [subject = "", separator = "", ...body] = message.trimEnd().split("\n");
  const [, list] = /^([a-z-]+(?:, [a-z-]+)*): \S/.exec(subject) ?? [];
  const unknown = list?.split(", ").filter((area) => area !== TOP && !folders.has(area)) ?? [];
  const problems = [];
  if (list === undefined) problems.push("The subject is not `area: what changed`, or `area, area: what changed`");
  if (unknown.length > 0) problems.push(`No folder is named ${unknown.join(", ")}; what is in none is "${TOP}"`);
  if (subject.length > MAX_SUBJECT)
    problems.push(`The subject has ${subject.length} characters, not ${MAX_SUBJECT} at most`);
  if (separator !== "") problems.push("The line after the subject is not empty");
  if (!body.some((line) => line.trim() !== "" && !TRAILER.test(line))) problems.push("There is no body that says why");
  return problems;
}

/**
 * What is wrong with the commits after a base, merges aside, one line each. Nothing is where there is no git history.
 *
 * @param {string} root the repository
 * @param {string} [base] by default the commit that brought this file: older ones had no such form
 * @returns {string[]}
 */
export function checkCommits(root, base = firstCommitOf(root, relative(root, import.meta.filename))) {
  if (base === undefined) return [];
  const folders = foldersSince(root, base);
  const commits = git(root, "log", "--no-merges", "-z", "--format=%h %B", `${base}..HEAD`).split("\0").filter(Boolean);
  return commits.flatMap((commit) => {
    const [hash = ""] = commit.split(" ", 1);
    const message = commit.slice(hash.length + 1);
    const [subject] = message.split("\n");
    return problemsOf(message, folders).map((problem) => `${hash} "${subject}": ${problem}`);
  });
}

/**
 * Names of the folders that there are, or were after the base; without the dot of `.ci`.
 *
 * @param {string} root
 * @param {string} base
 * @returns {Set<string>}
 */
function foldersSince(root, base) {
  const files = [
    git(root, "ls-files", "-z"),
    git(root, "log", "--no-renames", "--name-only", "-z", "--format=", `${base}..HEAD`),
  ];
  const folders = new Set(files.flatMap((list) => list.split("\0")).map((path) => dirname(path.trim())));
  return new Set(
    [...folders].flatMap((folder) => folder.split("/")).map((name) => basename(name).replace(/^\.(?=.)/, "")),
  );
}

/**
 * @param {string} root
 * @param {string} path
 * @returns {string | undefined} undefined if nothing of it is committed, or git knows nothing of the folder
 */
function firstCommitOf(root, path) {
  try {
    return git(root, "log", "--diff-filter=A", "--format=%H", "--", path).trim().split("\n").at(-1) || undefined;
  } catch {
    return undefined;
  }
}

/**
 * @param {string} root
 * @param {string[]} args
 * @returns {string}
 */
function git(root, ...args) {
  return execFileSync("git", args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
    stdio: ["ignore", "pipe", "ignore"],
  });
}

if (import.meta.main) {
  const problems = checkCommits(join(import.meta.dirname, ".."), process.argv[2]);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) console.error("`git commit --amend`, or `git rebase -i` and `reword`, says it better.");
  process.exitCode = problems.length > 0 ? 1 : 0;
}
