export { DUE_PER_PASS } from "../protocol/index.js";

/** Retries of a step after its first run, when it does not say (`maxRetries`). */
export const DEFAULT_MAX_RETRIES = 3;
/** First factor of the backoff between attempts, in ms (`retryBackoffBase`). */
export const DEFAULT_RETRY_BACKOFF_BASE_MS = 100;
/** Longest backoff between attempts, in ms (`retryBackoffMax`). */
export const DEFAULT_RETRY_BACKOFF_MAX_MS = 30_000;
/** How long one attempt may take, in ms (`timeout`); zero or less means no limit. */
export const DEFAULT_STEP_TIMEOUT_MS = 30_000;
/** After this many operations the run gives other events a turn (FLOW-12). */
export const OPERATIONS_PER_YIELD = 25;
/** Longest legal name of an operation, in UTF-8 bytes (FLOW-5). */
export const MAX_NAME_BYTES = 1024;

/** Operations that one scope may have refused; later ones get no answer. */
export const MAX_REFUSALS = 1_000;

/** What is wrong with a name, if something is. Any text is legal that can be stored and fits. */
export function nameProblem(name: unknown): string | undefined {
  if (typeof name !== "string") return `a name is a string, not ${typeof name}`;
  if (name.length > MAX_NAME_BYTES || new TextEncoder().encode(name).length > MAX_NAME_BYTES)
    return `a name has at most ${MAX_NAME_BYTES} bytes`;
  return undefined;
}
/** Branches that one join or race may have, and bytes of UTF-8 that their names may take together: its entry holds them all. */
export const MAX_BRANCHES = 10_000;
export const MAX_BRANCH_NAMES_BYTES = 1_000_000;
/** Encoded bytes that the results of one join's or race's branches may take together; they are all in memory at once. */
export const MAX_BRANCH_RESULTS_BYTES = 32 * 1024 * 1024;
/** What the winner of a race may give, encoded. */
export const MAX_RACE_VALUE_BYTES = 1_990_000;
/** The same for failures: those of all branches stand in one error. */
export const MAX_BRANCH_FAILURES_BYTES = 1_800_000;
/** Branches that begin in one turn; the others follow after other events had theirs. */
export const BRANCHES_PER_TURN = 25;
/** Iterations of a loop between two prunings (`historyPruneInterval`). */
export const DEFAULT_PRUNE_INTERVAL = 20;
/** Iterations in a row that may go by without an operation or a change of the state before the loop fails. */
export const MAX_IDLE_ITERATIONS = 1_000;
