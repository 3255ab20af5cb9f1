/**
 * The branches of a join or a race: started together, each in a scope of its own. Their results are stored below the
 * parent's entry, so that a branch that has ended does not run again.
 */
import { ActorError, encodeValue, own } from "../protocol/index.js";
import {
  BranchResults,
  branchResultRows,
  branchValues,
  isValue,
  type BranchData,
  type StoredResult,
} from "./branch-results.js";
import { HistoryDivergedError } from "./errors.js";
import { branchError, fitFailure, toBranchFailure } from "./failure.js";
import type { Entry, EntryKind } from "./history/entry.js";
import { formatLocation, nameAt } from "./history/location.js";
import { clip } from "./history/stored-error.js";
import {
  BRANCHES_PER_TURN,
  MAX_BRANCHES,
  MAX_BRANCH_FAILURES_BYTES,
  MAX_BRANCH_NAMES_BYTES,
  MAX_BRANCH_RESULTS_BYTES,
  MAX_RACE_VALUE_BYTES,
  nameProblem,
} from "./limits.js";
import type { Operation } from "./operation.js";
import { Scope } from "./scope.js";
import { runInScope, type ScopeResult } from "./scope-function.js";

export interface BranchDefinition {
  readonly name: string;
  readonly run: (context: never) => unknown;
}

/**
 * What a branch of a race was doing when it lost: its place among the names, `failed`, `code` or the kind of its operation in
 * flight, the error's message or the operation's name, and when that operation began, epoch ms.
 */
export type StoredLoser = readonly [
  place: number,
  doing: EntryKind | "try" | "failed" | "code",
  text?: string,
  since?: number,
];

/** How many losers a race keeps, and UTF-16 units of the text of each: its row must have room for them. */
const MAX_LOSERS = 16;
const MAX_LOSER_TEXT = 199;

export type BranchResult =
  | { readonly name: string; readonly value: Uint8Array }
  | { readonly name: string; readonly error: Error };

export class Branches {
  readonly entry: Entry;
  readonly #parent: Scope;
  readonly #operation: Operation;
  readonly #definitions: readonly BranchDefinition[];
  readonly #scopes = new Map<string, Scope>();
  #results: BranchResults | undefined;

  constructor(kind: EntryKind, parent: Scope, operation: Operation, definitions: readonly BranchDefinition[]) {
    this.#parent = parent;
    this.#operation = operation;
    this.#definitions = definitions;
    this.entry = operation.entry ?? operation.activation.newEntry(kind, operation.location);
  }

  /** The results of the branches that have ended. */
  get results(): BranchResults {
    return (this.#results ??= new BranchResults(this.#operation.activation, this.entry));
  }

  get names(): string[] {
    return this.#definitions.map((branch) => branch.name);
  }

  /** The branches' values as one object, its keys in the order of the code. */
  values(): Record<string, unknown> {
    return branchValues(this.#operation.activation.history, this.entry, this.names);
  }

  /** Returns an error unless the recorded branch names are those of the code (FLOW-6). */
  mismatch(): HistoryDivergedError | undefined {
    if (!this.#operation.entry) return undefined;
    const recorded = [...(this.entry.data as BranchData).branches].sort();
    const called = this.names.sort();
    if (recorded.length === called.length && recorded.every((name, index) => name === called[index])) return undefined;
    const at = formatLocation(this.#operation.location);
    return new HistoryDivergedError(
      `The ${this.entry.kind} at ${at} was recorded with the branches ${recorded.join(", ")}, the code has ${called.join(", ")}`,
      {
        location: at,
        found: recorded.join(", "),
        expected: called.join(", "),
      },
    );
  }

  /** Why the definitions are not valid, or undefined. */
  static problem(
    kind: "join" | "race",
    name: string,
    definitions: readonly Partial<BranchDefinition>[],
  ): ActorError | undefined {
    const refuse = (what: string): ActorError =>
      new ActorError("workflow", `invalid_${kind}`, `The ${kind} "${name}" ${what}`);
    const names = new Set<string>();
    let bytes = 0;
    for (const branch of definitions) {
      if (typeof branch?.run !== "function" || typeof branch.name !== "string")
        return refuse("needs a name and a run function for each branch");
      if (names.has(branch.name)) return refuse(`has two branches named "${branch.name}"`);
      if (nameProblem(branch.name)) return refuse(`has a branch whose name is not valid: ${nameProblem(branch.name)}`);
      names.add(branch.name);
      bytes += utf8.encode(branch.name).byteLength;
    }
    if (names.size > MAX_BRANCHES) return refuse(`has more than ${MAX_BRANCHES} branches`);
    if (bytes > MAX_BRANCH_NAMES_BYTES)
      return refuse(`has branch names that together exceed ${MAX_BRANCH_NAMES_BYTES} bytes`);
    return undefined;
  }

  /** Puts the parent's entry and runs the branches that have not ended. Calls `ended` for each branch, recorded ones first. */
  start(ended: (result: BranchResult) => void): void {
    const { activation } = this.#operation;
    if (!this.#operation.entry) {
      // Readable by a release in format 1 for as long as no branch has ended.
      this.entry.data = { branches: this.names, results: {} } satisfies BranchData;
      activation.put(this.entry);
    }
    const recorded = this.#definitions.flatMap(({ name }) => {
      const result = this.results.get(name);
      return result ? [readResult(name, result)] : [];
    });
    const open = this.#definitions.filter(({ name }) => this.results.get(name) === undefined);
    this.#runAll(open, (name, result) => ended(this.#record(name, result)));
    for (const result of recorded) if (!this.#operation.isSettled) ended(result);
  }

  /** Runs completed branches again, only to collect their rollback handlers; calls `done` when all have stopped. */
  collect(names: readonly string[], done: () => void): void {
    const wanted = new Set(names);
    const branches = this.#definitions.filter((branch) => wanted.has(branch.name));
    let open = branches.length;
    if (open === 0) return done();
    this.#runAll(branches, () => {
      open -= 1;
      if (open === 0) done();
    });
  }

  /** Evicts all branches except the winner, if any, and deletes what they recorded. */
  evictAllBut(winner: string | undefined): void {
    for (const name of this.names) {
      if (name === winner) continue;
      this.#scopes.get(name)?.evict();
      this.#operation.activation.deleteTree([...this.#operation.location, name], true);
    }
    const { activation, location } = this.#operation;
    for (const row of branchResultRows(activation.history, location)) activation.deleteTree(row.location);
  }

  /** What the first branches besides the winner do now, before they are evicted. */
  losers(winner: string | undefined): StoredLoser[] {
    const losers: StoredLoser[] = [];
    const { branches } = this.entry.data as BranchData;
    for (const [place, name] of branches.entries()) {
      if (name !== winner) losers.push(this.#loser(place, name));
      if (losers.length === MAX_LOSERS) break;
    }
    return losers;
  }

  #loser(place: number, name: string): StoredLoser {
    const result = this.results.get(name);
    if (result) return [place, "failed", isValue(result) ? "" : clip(result.f.error.message, MAX_LOSER_TEXT)];
    const [open] = this.#scopes.get(name)?.openBranches() ?? [];
    if (!open?.operation) return [place, "code"];
    const { location, operation } = open;
    const entry = operation.entry ?? this.#operation.activation.history.find(location);
    const at = clip(nameAt(location), MAX_LOSER_TEXT);
    const since = entry?.startedAt;
    return since === undefined ? [place, operation.kind, at] : [place, operation.kind, at, since];
  }

  /** Starts a limited number in this turn and the rest after other events (FLOW-12). */
  #runAll(branches: readonly BranchDefinition[], settled: (name: string, result: ScopeResult) => void): void {
    for (const branch of branches.slice(0, BRANCHES_PER_TURN))
      this.#run(branch, (result) => settled(branch.name, result));
    if (branches.length > 0) this.#operation.delegate();
    const rest = branches.slice(BRANCHES_PER_TURN);
    if (rest.length === 0) return;
    this.#operation.activation.yield(() => {
      if (!this.#operation.isSettled) this.#runAll(rest, settled);
    });
  }

  #run(branch: BranchDefinition, settled: (result: ScopeResult) => void): void {
    const scope = new Scope(this.#operation.activation, [...this.#operation.location, branch.name], this.#parent);
    this.#scopes.set(branch.name, scope);
    runInScope(scope, (context) => branch.run(context as never), settled);
  }

  /** Adds the result of a branch that has ended; the next commit writes it. */
  #record(name: string, result: ScopeResult): BranchResult {
    const stored = this.#fit(toStored(result));
    this.results.add(name, stored);
    return readResult(name, stored);
  }

  /** A result too large for the room left becomes a failure of its branch (VALUE-3). */
  #fit(stored: StoredResult): StoredResult {
    if (!isValue(stored))
      return {
        f: fitFailure(stored.f, Math.max(LEAST_FAILURE_BYTES, MAX_BRANCH_FAILURES_BYTES / this.#definitions.length)),
      };
    // The entry of a race holds its winner's value.
    const limitBytes = this.entry.kind === "race" ? MAX_RACE_VALUE_BYTES : MAX_BRANCH_RESULTS_BYTES;
    if (this.results.sizeBytes + stored.v.byteLength <= limitBytes) return stored;
    const message =
      `The results of the branches of ${this.entry.kind} "${this.#operation.name}" are too large: together ` +
      `they may take ${limitBytes} bytes`;
    const metadata = { sizeBytes: stored.v.byteLength, limitBytes };
    return this.#fit({ f: toBranchFailure(new ActorError("value", "too_large", message, { metadata })) });
  }
}

const utf8 = new TextEncoder();
/** Encoded bytes that every branch's failure may take, however many branches there are. */
const LEAST_FAILURE_BYTES = 120;

function toStored(result: ScopeResult): StoredResult {
  if ("error" in result) return { f: toBranchFailure(result.error) };
  try {
    return { v: encodeValue(result.value) };
  } catch (error) {
    return { f: toBranchFailure(error) };
  }
}

function readResult(name: string, stored: StoredResult): BranchResult {
  return own(isValue(stored) ? { name, value: stored.v } : { name, error: branchError(stored.f) });
}
