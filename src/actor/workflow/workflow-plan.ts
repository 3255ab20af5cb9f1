/** What an act of an owner would do to a history, as data and in words; the act itself is done with the same `Restart`. */
import {
  completedMessages,
  heldMessages,
  isOfRollback,
  nameAt,
  takenMessages,
  type Entry,
  type History,
  type Restart,
  type StoredMessage,
} from "../../workflow/index.js";
import type { WorkflowPlan } from "../api/workflow-status.js";

/** Messages that return to the queue when the entry of their receive is removed. */
export interface Returned {
  /** Held by the entry, which nobody else could take. */
  readonly held: readonly StoredMessage[];
  readonly taken: readonly StoredMessage[];
}

/** One already replied to comes again, and gets no second reply. */
export function returnedBy(entry: Entry): Returned {
  if (entry.kind !== "message") return { held: [], taken: [] };
  const held = heldMessages(entry);
  const completed = completedMessages(entry);
  if (held.length + completed.length === 0) return { held, taken: takenMessages(entry) };
  return { held, taken: completed.map(({ id, name, body, createdAt }) => ({ id, name, body, createdAt })) };
}

/** Names of entries that a sentence lists. */
const MAX_NAMED = 3;
const MAX_NAME = 60;

interface PlannedChanges {
  readonly restart?: Restart;
  /** Starts over besides. */
  readonly again?: readonly Entry[];
  /** `seq` of a step that is completed with a value. */
  readonly completed?: number | undefined;
  /** Messages that are no longer held. */
  readonly released?: readonly StoredMessage[];
}

/** `history`: after the restart, if there is one; `first`: what else is done, in words. */
export function planOf(
  history: History,
  first: string,
  { restart, again = [], completed, released = [] }: PlannedChanges = {},
): WorkflowPlan {
  const reopened = [...(restart?.changed ?? [])].filter(({ status, seq }) => status === "pending" && seq !== completed);
  const runsAgain = shown([...reopened, ...again]);
  const gone = [...(restart?.removed ?? [])];
  const deleted = shown(gone);
  const starts = new Set(runsAgain);
  const kept = shown([...history.entries()]).filter((entry) => !starts.has(entry));
  const back = gone.flatMap((entry) => {
    const { held, taken } = returnedBy(entry);
    return [...held, ...taken];
  });
  const messages = [...back, ...released].map(({ id }) => id);
  const words = [
    first,
    runsAgain.length > 0 ? `runs ${named(runsAgain)} again` : "",
    deleted.length > 0 ? `deletes ${named(deleted)}` : "",
    messages.length > 0 ? `returns ${counted(messages.length, "message")} to the queue` : "",
    `keeps ${kept.length === 1 ? "1 entry" : `${kept.length} entries`}`,
  ].filter((part) => part !== "");
  const sentence = words.join(", ");
  return {
    sentence: `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`,
    deleted: deleted.map(idOf),
    again: runsAgain.map(idOf),
    kept: kept.map(idOf),
    messages: messages.sort((a, b) => a - b),
  };
}

/** As `history()` lists them. */
function shown(entries: readonly Entry[]): Entry[] {
  return entries.filter(({ kind }) => kind !== "branch_results").sort((a, b) => a.seq - b.seq);
}

function idOf({ seq }: Entry): string {
  return String(seq);
}

function named(entries: readonly Entry[]): string {
  const names = entries.slice(0, MAX_NAMED).map((entry) => {
    const name = nameAt(entry.location);
    return isOfRollback(entry) ? "an undoing" : `"${name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name}"`;
  });
  const more = entries.length - names.length;
  return more > 0 ? `${names.join(", ")} and ${more} more` : names.join(", ");
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
