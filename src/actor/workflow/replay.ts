/**
 * Replays a recorded run against a workflow function, by the engine itself: operations that are recorded answer from the
 * history, and the first of each branch that is not recorded never begins. No step runs, and nothing is written.
 */
import { own } from "../../protocol/index.js";
import {
  History,
  ScopeContext,
  WorkflowRun,
  type Entry,
  type HistoryDivergedError,
  type Location,
  type MessagePort,
  type Outcome,
  type WorkflowIdentity,
  type WorkflowPorts,
} from "../../workflow/index.js";

export interface ReplayOptions {
  readonly run: (context: never) => unknown;
  readonly entries: readonly Entry[];
  /** What the context says of the actor; `key` is read each time the code asks for it. */
  readonly identity: Omit<WorkflowIdentity, "log">;
  /** When the history was recorded, epoch ms. */
  readonly now: number;
  /** Lets other events have their turn. */
  readonly nextTurn: () => Promise<void>;
  /** The code has met an entry. */
  readonly onMet?: (entry: Entry) => void;
}

/** Where a replay ended: everything recorded was met, the run is over, or the code does not match. */
export type ReplayEnd =
  | { readonly kind: "parked" }
  | { readonly kind: "ended"; readonly outcome: Outcome }
  | {
      readonly kind: "diverged";
      readonly error: HistoryDivergedError;
      /** What the function had thrown, if it had. */
      readonly thrown?: unknown;
    };

export interface Replay {
  /** Never settles while the code awaits something outside the engine. */
  readonly end: Promise<ReplayEnd>;
  /** Where it does. */
  inUserCode(): string[];
  stop(): void;
}

export function startReplay(given: ReplayOptions): Replay {
  const options = own(given);
  let ended: (end: ReplayEnd) => void = () => {};
  const end = new Promise<ReplayEnd>((resolve) => (ended = resolve));
  let failed: { readonly thrown: unknown } | undefined;
  const history = new WatchedHistory(options.entries, options.onMet);
  const identity = {
    actorId: options.identity.actorId,
    name: options.identity.name,
    env: options.identity.env,
    get key() {
      return options.identity.key;
    },
    log: SILENT,
  };
  const run = new WorkflowRun({
    ports: inert(options, history, (at) => ended(at.kind === "diverged" && failed ? { ...at, ...failed } : at)),
    history,
    createContext: (scope) => new ScopeContext(scope, identity),
    run: async (context: never) => {
      try {
        return await options.run(context);
      } catch (thrown) {
        failed = { thrown };
        throw thrown;
      }
    },
    replaysOnly: true,
  });
  run.start();
  return { end, inUserCode: () => [...run.inUserCode()], stop: () => run.abandon(new Error("The replay has ended")) };
}

/** Says which entries the code has met. */
class WatchedHistory extends History {
  readonly #onMet: ((entry: Entry) => void) | undefined;

  constructor(entries: readonly Entry[], onMet: ((entry: Entry) => void) | undefined) {
    super(entries);
    this.#onMet = onMet;
  }

  override find(location: Location): Entry | undefined {
    const found = super.find(location);
    if (found) this.#onMet?.(found);
    return found;
  }
}

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Ports that write nothing and run nothing. The first of their ends is the replay's, after which nothing settles. */
function inert({ now, nextTurn }: ReplayOptions, history: History, ended: (end: ReplayEnd) => void): WorkflowPorts {
  let seq = history.highestSeq();
  let isOver = false;
  const end = (at: ReplayEnd): void => {
    isOver = true;
    ended(at);
  };
  return {
    now: () => now,
    yield: nextTurn,
    nextSeq: () => (seq += 1),
    put: () => {},
    delete: () => {},
    requireFormat: () => {},
    commit: () => !isOver,
    beginWork: () => {},
    parked: () => end({ kind: "parked" }),
    timersChanged: () => {},
    isCareful: () => false,
    confirmed: () => new Promise(() => {}),
    openAttempt: () => {
      throw new Error("A replay runs no step");
    },
    finished: (outcome) => end({ kind: "ended", outcome }),
    rollingBack: (error) => end({ kind: "ended", outcome: { status: "failed", error } }),
    diverged: (error) => end({ kind: "diverged", error }),
    report: () => {},
    messages: NO_MESSAGES,
    log: SILENT,
  };
}

const NO_MESSAGES: MessagePort = {
  firstAt: () => undefined,
  take: () => [],
  putBack: () => {},
  encodeReply: () => undefined,
  complete: () => {},
  heldAmong: () => undefined,
};
