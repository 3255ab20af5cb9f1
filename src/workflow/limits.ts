import { utf8Length } from "../protocol/index.js";

export { DUE_PER_PASS } from "../protocol/index.js";

/** Retries of a step after its first attempt (`maxRetries`). */
export const DEFAULT_MAX_RETRIES = 3;
/** Base of the exponential backoff between attempts, in ms (`retryBackoffBase`). */
export const DEFAULT_RETRY_BACKOFF_BASE_MS = 100;
/** Longest backoff between attempts, in ms (`retryBackoffMax`). */
export const DEFAULT_RETRY_BACKOFF_MAX_MS = 30_000;
/** How long one attempt may take, in ms (`timeout`); 0 or Infinity means no limit. */
export const DEFAULT_STEP_TIMEOUT_MS = 30_000;
/** After this many operations the run gives other events a turn, at first; and at most, if they are cheap (FLOW-12). */
export const OPERATIONS_PER_YIELD = 25;
export const OPERATIONS_AT_MOST = 100;
/** The same at most while a run is replayed: what is recorded is only delivered, in a tenth of the time and without a write. */
export const REPLAYED_AT_MOST = 1_000;
/** Longest legal name of an operation, in UTF-8 bytes (FLOW-5). */
export const MAX_NAME_BYTES = 1024;

/** Rejected operations per scope; later ones never settle, so that a loop that ignores rejections stops. */
export const MAX_REFUSALS = 1_000;

/** Why a name is not valid, or undefined. Any string is valid that fits and can be stored. */
export function nameProblem(name: unknown): string | undefined {
  if (typeof name !== "string") return `it must be a string, not ${typeof name}`;
  // Without counting: a UTF-16 unit takes at most three bytes.
  if (name.length * 3 <= MAX_NAME_BYTES) return undefined;
  if (name.length > MAX_NAME_BYTES || utf8Length(name) > MAX_NAME_BYTES)
    return `it must have at most ${MAX_NAME_BYTES} bytes`;
  return undefined;
}
/** Branches per join or race, and UTF-8 bytes of all their names together: one entry holds them all. */
export const MAX_BRANCHES = 10_000;
export const MAX_BRANCH_NAMES_BYTES = 1_000_000;
/** Encoded bytes of all branch results of one join or race together; they are all in memory at once. */
export const MAX_BRANCH_RESULTS_BYTES = 32 * 1024 * 1024;
/** Encoded bytes of the value that the winner of a race returns. */
export const MAX_RACE_VALUE_BYTES = 1_990_000;
/** Encoded bytes of the failures of all branches together: one error holds them all. */
export const MAX_BRANCH_FAILURES_BYTES = 1_800_000;
/** Branches started per turn; other events are served before the rest start. */
export const BRANCHES_PER_TURN = 25;
/** Iterations of a loop between prunes of its history (`historyPruneInterval`). */
export const DEFAULT_PRUNE_INTERVAL = 20;
/** Consecutive iterations with no operation and no state change before the loop fails. */
export const MAX_IDLE_ITERATIONS = 1_000;
