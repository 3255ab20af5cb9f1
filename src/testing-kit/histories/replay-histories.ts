import process from "node:process";
import { checkHistory, replayHistory, type RecordedHistory, type Registry, type Verdict } from "../../actor/index.js";
import { readOptions } from "../../protocol/index.js";
import { historyFiles, readHistory, type ReadHistory } from "./history-files.js";
import { checkRegistry } from "../world/registry.js";
import { withoutFetch } from "./no-fetch.js";

/** What `setTimeout` can wait. */
const MAX_TIMEOUT_MS = 2_147_483_647;

/** How today's code did on one history. */
export type HistoryReplay = Verdict & {
  /** The path of the file, or `history 1` for the first of those that were given themselves. */
  readonly file: string;
  readonly actor?: string;
};

export interface ReplayHistoriesOptions {
  /** The Worker's bindings and variables, as `c.env` shows them to the workflow (default none). */
  readonly env?: object;
  /** How long the code may await something that is not an operation of its context, in real ms (default 2,000). */
  readonly timeout?: number;
}

/** Thrown when recorded histories do not match today's code. */
export class HistoryReplayError extends Error {
  override readonly name = "HistoryReplayError";
  /** All replays, those that matched included. */
  readonly replays: readonly HistoryReplay[];

  constructor(replays: readonly HistoryReplay[]) {
    const bad = replays.filter(({ outcome }) => outcome === "diverged" || outcome === "failed");
    const lines = bad.map((replay) => `- ${described(replay)}`);
    super(`${bad.length} of ${replays.length} recorded histories do not match today's code:\n${lines.join("\n")}`);
    this.replays = replays;
  }
}

function described(replay: HistoryReplay): string {
  const of = `${replay.file}${replay.actor === undefined ? "" : ` (${replay.actor})`}`;
  return replay.outcome === "matched" ? of : `${of}: ${replay.message}`;
}

/**
 * Replays recorded histories against the workflows that a registry has now, without running a step. What was recorded
 * answers; where the record ends, the history matches. Gives one line for each history. Those after a redacted value that
 * do not match are `cannot tell`, which is no error: a warning counts them.
 *
 * @param source a folder, or paths of files and histories that `world.record` returned
 * @throws {HistoryReplayError} when one diverges or cannot be replayed: it lists all of them
 * @throws {Error} when the folder is missing or empty
 * @throws {TypeError} when an option is not valid
 * @example
 *     it("matches the histories of production", async () => {
 *       await replayHistories(registry, "test/histories");
 *     });
 */
export async function replayHistories(
  registry: object,
  source: string | readonly (string | RecordedHistory)[],
  options: ReplayHistoriesOptions = {},
): Promise<HistoryReplay[]> {
  const fail = (problem: string): TypeError => new TypeError(problem);
  const { timeout = 2_000, env = {} } = readOptions("replayHistories()", options, ["timeout", "env"], fail);
  if (!(timeout > 0 && timeout <= MAX_TIMEOUT_MS))
    throw fail(`replayHistories(): timeout must be a number of milliseconds, at most ${MAX_TIMEOUT_MS}`);
  if (typeof env !== "object" || env === null) throw fail("replayHistories(): env must be an object");
  const checked = checkRegistry("replayHistories()", registry);
  const replays: HistoryReplay[] = [];
  for (const read of await readAll(source)) replays.push(await replayOne(checked, read, { timeout, env }));
  if (replays.some(({ outcome }) => outcome === "diverged" || outcome === "failed"))
    throw new HistoryReplayError(replays);
  warnOfUntold(replays);
  return replays;
}

function warnOfUntold(replays: readonly HistoryReplay[]): void {
  const untold = replays.filter(({ outcome }) => outcome === "cannot tell");
  const [first] = untold;
  if (first === undefined) return;
  process.emitWarning(
    `replayHistories() cannot tell whether ${untold.length} of ${replays.length} histories match, ` +
      `because of redacted values: ${described(first)}`,
    "PerdureTestingWarning",
  );
}

async function readAll(source: string | readonly (string | RecordedHistory)[]): Promise<ReadHistory[]> {
  if (typeof source !== "string" && !Array.isArray(source))
    throw new TypeError("replayHistories() takes a folder, or an array of files");
  const files = typeof source === "string" ? await historyFiles(source) : source;
  if (files.length === 0) throw new Error("replayHistories() was given no history");
  return Promise.all(
    files.map((each, index) =>
      typeof each === "string" ? readHistory(each) : { file: `history ${index + 1}`, history: each },
    ),
  );
}

async function replayOne(
  registry: Registry,
  read: ReadHistory,
  options: Required<ReplayHistoriesOptions>,
): Promise<HistoryReplay> {
  const { file, problem } = read;
  if (problem !== undefined) return { file, outcome: "failed", message: problem };
  let actor: string | undefined;
  try {
    const history = checkHistory(read.history);
    actor = history.actor;
    if (!registry.actorNames.includes(actor))
      return { file, actor, outcome: "failed", message: `The registry has no actor named "${actor}"` };
    return { file, actor, ...(await replayed(registry, history, options)) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { file, ...(actor !== undefined && { actor }), outcome: "failed", message };
  }
}

async function replayed(
  registry: Registry,
  history: RecordedHistory,
  { timeout, env }: Required<ReplayHistoriesOptions>,
): Promise<Verdict> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const givenUp = new Promise<void>((resolve) => (timer = setTimeout(resolve, timeout)));
  // The engine asks for a turn after so many operations: the code goes on, so its time begins anew.
  const nextTurn = (): Promise<void> => {
    timer?.refresh();
    return new Promise((resolve) => setImmediate(resolve));
  };
  try {
    const { result, fetched } = await withoutFetch(env, () =>
      replayHistory(registry.find(history.actor), history, { nextTurn, env, givenUp }),
    );
    if (fetched === undefined) return result;
    const message = `The code fetches ${fetched} outside of a step: each replay would do so again. Put it in a step`;
    return { outcome: "failed", message };
  } finally {
    clearTimeout(timer);
  }
}
