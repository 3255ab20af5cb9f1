import { ActorError, parseJsonKey, type InspectQuestion } from "../../protocol/index.js";
import type { ActorTarget } from "../objects/resolve-stub.js";

/** What only asks. */
type About = Exclude<Exclude<InspectQuestion, { readonly by: string }>["about"], "watch">;

/** What each path asks, with the parameters it takes. */
const QUESTIONS: Readonly<Record<About, readonly string[]>> = {
  summary: [],
  state: [],
  history: ["from", "limit"],
  entry: ["entry"],
  recorded: [],
  queue: ["from", "limit"],
  message: ["message"],
  schedules: [],
  connections: [],
  kv: ["from", "limit"],
  tables: [],
  schema: [],
  rows: ["table", "from", "limit"],
  audit: [],
};
/** The parameters that a question cannot do without. */
const NEEDED = new Set(["entry", "message", "table"]);

/** Whether a path asks something. */
export function isQuestion(path: string): boolean {
  return Object.hasOwn(QUESTIONS, path.slice(1));
}

/** The question of a path like `/summary`; undefined if it asks none. @throws {guard/query_invalid_params} */
export function questionOf(path: string, query: URLSearchParams): InspectQuestion | undefined {
  if (!isQuestion(path)) return undefined;
  const about = path.slice(1);
  const question: Record<string, unknown> = { about };
  for (const name of QUESTIONS[about as About]) {
    const value = query.get(name);
    if (value === null && NEEDED.has(name)) throw invalid(`The query lacks "${name}".`);
    // Entries and messages are asked for by their id.
    if (value !== null) question[name === "entry" || name === "message" ? "id" : name] = valueOf(name, value);
  }
  return question as unknown as InspectQuestion;
}

function valueOf(name: string, value: string): string | number {
  if (name !== "limit") return value;
  // The object says which numbers it takes.
  return /^\d{1,6}$/.test(value) ? Number(value) : Number.NaN;
}

/**
 * The actor of a query: `id`, or `actor` and `key`, a JSON array of strings.
 *
 * @throws {guard/query_invalid_params} when it names no actor
 */
export function inspectedTarget(query: URLSearchParams): ActorTarget {
  const actorId = query.get("id");
  if (actorId !== null) return { actorId };
  const name = query.get("actor");
  const key = query.get("key");
  if (name === null || key === null)
    throw invalid('The query is "actor" and "key" (a JSON array of strings), or "id" (an actor\'s id).');
  return { name, key: parseJsonKey(key), creation: { mode: "get" } };
}

function invalid(message: string): ActorError {
  return new ActorError("guard", "query_invalid_params", message);
}
