import { join } from "node:path";
import { checkHistory, type RecordedHistory } from "../../actor/index.js";
import { readOptions } from "../../protocol/index.js";
import { writeHistory } from "./history-files.js";
import { redactHistory, type Redact } from "./redact.js";

export interface ExportHistoriesOptions {
  /** The inspector's token. */
  readonly token: string;
  /** Where the files are written; default `histories`. */
  readonly folder?: string;
  /** Only of actors with this name. */
  readonly actor?: string;
  /** Only of the actor with this key. A Worker that has no list of its actors answers for one: give `actor` and `key`. */
  readonly key?: readonly string[];
  /** Only of workflows with this status: `running`, `completed`, `failed`, `cancelled`. */
  readonly status?: string;
  /** The most histories to write (default 100, at most 10,000). */
  readonly limit?: number;
  /** Replaces values before anything is written. */
  readonly redact?: Redact;
}

const MAX_LIMIT = 10_000;
const KEYS = ["token", "folder", "actor", "key", "status", "limit", "redact"] as const;

/**
 * Downloads histories of a deployed Worker and writes each to a file, for `replayHistories`. Returns the files' paths.
 *
 * @param url the address of the Worker, with its base path if it has one
 * @throws {TypeError} when an option is invalid
 * @throws {Error} when the Worker does not answer with histories
 * @example
 *     await exportHistories("https://shop.example.com/api/rivet", { token, actor: "order", redact: true });
 */
export async function exportHistories(url: string, options: ExportHistoriesOptions): Promise<string[]> {
  const fail = (problem: string): TypeError => new TypeError(problem);
  const {
    token,
    folder = "histories",
    limit = 100,
    redact,
    key,
    ...filter
  } = readOptions("exportHistories()", options, KEYS, fail);
  if (typeof token !== "string" || token === "") throw new TypeError('exportHistories(): "token" must be a string');
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw new TypeError(`exportHistories(): "limit" must be a whole number from 1 to ${MAX_LIMIT}`);
  const files: string[] = [];
  let cursor: string | undefined;
  do {
    const page: Page = await fetchPage(url, token, {
      ...filter,
      key: key && JSON.stringify(key),
      limit: String(limit - files.length),
      cursor,
    });
    for (const each of page.histories.slice(0, limit - files.length)) {
      const file = join(folder, `${each.actor}-${each.actorId}.json`.replaceAll(/[^\w.-]/g, "_"));
      await writeHistory(file, redact ? redactHistory(each, redact) : each);
      files.push(file);
    }
    // A page that brings nothing is the last, whatever it says.
    cursor = page.histories.length > 0 ? page.cursor : undefined;
  } while (cursor !== undefined && files.length < limit);
  return files;
}

interface Page {
  readonly histories: readonly RecordedHistory[];
  readonly cursor?: string;
}

async function fetchPage(
  base: string,
  token: string,
  query: Readonly<Record<string, string | undefined>>,
): Promise<Page> {
  const url = new URL(`${base.replace(/\/+$/, "")}/inspector/api/histories`);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw new Error(`${url.origin} answered ${response.status} instead of histories`);
  const page = (await response.json().catch(() => undefined)) as Partial<Page> | undefined;
  if (!Array.isArray(page?.histories)) throw new Error(`${url.origin} answered without histories`);
  const { cursor } = page;
  return { histories: page.histories.map(checkHistory), ...(typeof cursor === "string" && { cursor }) };
}
