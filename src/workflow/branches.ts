/**
 * The branches of a join or a race: started together, each in a scope of its own, their results kept in the parent's
 * entry so that a branch that has ended does not run again.
 */
import { ActorError, decodeValue, encodeValue, own } from "../protocol/index.js";
import { HistoryDivergedError } from "./errors.js";
import { branchError, fitFailure, toBranchFailure } from "./failure.js";
import type { Entry, EntryKind, Failure } from "./history/entry.js";
import { formatLocation } from "./history/location.js";
import { MAX_BRANCHES, MAX_BRANCH_NAMES_BYTES, MAX_BRANCH_RESULTS_BYTES, nameProblem } from "./limits.js";
import type { Operation } from "./operation.js";
import { Scope } from "./scope.js";
import { runInScope, type ScopeResult } from "./scope-function.js";

export interface BranchDefinition {
  readonly name: string;
  readonly run: (context: never) => unknown;
}

type StoredResult = { readonly v: Uint8Array } | { readonly f: Failure };

/** What the parent's entry keeps while it is open. */
interface BranchData {
  readonly branches: readonly string[];
  readonly results: Record<string, StoredResult>;
}

export type BranchResult = { readonly name: string; readonly value: Uint8Array } | { readonly name: string; readonly error: Error };

export class Branches {
  readonly entry: Entry;
  readonly #parent: Scope;
  readonly #operation: Operation;
  readonly #definitions: readonly BranchDefinition[];
  readonly #scopes = new Map<string, Scope>();
  #nameBytes: number | undefined;

  constructor(kind: EntryKind, parent: Scope, operation: Operation, definitions: readonly BranchDefinition[]) {
    this.#parent = parent;
    this.#operation = operation;
    this.#definitions = definitions;
    this.entry = operation.entry ?? operation.activation.newEntry(kind, operation.location);
  }

  get #data(): BranchData {
    return this.entry.data as BranchData;
  }

  get names(): string[] {
    return this.#definitions.map((branch) => branch.name);
  }

  /** The set of names as it is recorded must be the code's (decision 12). */
  mismatch(): HistoryDivergedError | undefined {
    if (!this.#operation.entry) return undefined;
    const recorded = [...this.#data.branches].sort();
    const called = this.names.sort();
    if (recorded.length === called.length && recorded.every((name, index) => name === called[index])) return undefined;
    const at = formatLocation(this.#operation.location);
    return new HistoryDivergedError(`The ${this.entry.kind} at ${at} was recorded with the branches ${recorded.join(", ")}, the code has ${called.join(", ")}`, {
      location: at,
      found: recorded.join(", "),
      expected: called.join(", "),
    });
  }

  /** What is wrong with the definitions, if something is. */
  static problem(kind: "join" | "race", name: string, definitions: readonly Partial<BranchDefinition>[]): ActorError | undefined {
    const refuse = (what: string): ActorError => new ActorError("workflow", `invalid_${kind}`, `The ${kind} "${name}" ${what}`);
    const names = new Set<string>();
    let bytes = 0;
    for (const branch of definitions) {
      if (typeof branch?.run !== "function" || typeof branch.name !== "string") return refuse("needs branches that have a name and a run function each");
      if (names.has(branch.name)) return refuse(`has two branches named "${branch.name}"`);
      if (nameProblem(branch.name)) return refuse(`has a branch whose name is no legal one: ${nameProblem(branch.name)}`);
      names.add(branch.name);
      bytes += branch.name.length * 3;
    }
    if (names.size > MAX_BRANCHES) return refuse(`has more than ${MAX_BRANCHES} branches`);
    if (bytes > MAX_BRANCH_NAMES_BYTES * 3) return refuse(`has branches whose names take more than ${MAX_BRANCH_NAMES_BYTES} characters together`);
    return undefined;
  }

  /** Puts the parent's entry, and runs what has not ended yet; `ended` is told of each branch, recorded ones first. */
  start(ended: (result: BranchResult) => void): void {
    const { activation } = this.#operation;
    if (!this.#operation.entry) {
      this.entry.data = { branches: this.names, results: {} } satisfies BranchData;
      activation.put(this.entry);
    }
    const results = Object.assign(Object.create(null), this.#data.results) as Record<string, StoredResult>;
    const open = this.#definitions.filter((branch) => results[branch.name] === undefined);
    for (const branch of open) this.#run(branch, (result) => ended(this.#record(branch.name, result)));
    if (open.length > 0) this.#operation.delegate();
    for (const branch of this.#definitions) {
      const recorded = results[branch.name];
      if (recorded && !this.#operation.isSettled) ended(readResult(branch.name, recorded));
    }
  }

  /** Runs completed branches once more, only to register what must be undone; `done` is called when all have stopped. */
  collect(names: readonly string[], done: () => void): void {
    const branches = this.#definitions.filter((branch) => names.includes(branch.name));
    let open = branches.length;
    if (open === 0) return done();
    for (const branch of branches) {
      this.#run(branch, () => {
        open -= 1;
        if (open === 0) done();
      });
    }
    this.#operation.delegate();
  }

  /** Ends all branches, but the winner if there is one, from outside, and forgets what they recorded. */
  evictAllBut(winner: string | undefined): void {
    for (const name of this.names) {
      if (name === winner) continue;
      this.#scopes.get(name)?.evict();
      this.#operation.activation.deleteTree([...this.#operation.location, name], true);
    }
  }

  #run(branch: BranchDefinition, settled: (result: ScopeResult) => void): void {
    const scope = new Scope(this.#operation.activation, [...this.#operation.location, branch.name], this.#parent);
    this.#scopes.set(branch.name, scope);
    runInScope(scope, (context) => branch.run(context as never), settled);
  }

  /** A branch has ended: that joins the entry, which the next commit writes. */
  #record(name: string, result: ScopeResult): BranchResult {
    const stored = this.#fit(toStored(result));
    const results = Object.fromEntries([...Object.entries(this.#data.results), [name, stored]]);
    this.entry.data = { ...this.#data, results } satisfies BranchData;
    this.#operation.activation.put(this.entry);
    return readResult(name, stored);
  }

  /** All results go into one entry: what is too large for what is left of it is a failure of its branch (C8). */
  #fit(stored: StoredResult): StoredResult {
    const others = Object.values(this.#data.results);
    const open = this.#definitions.length - others.length - 1;
    // The names stand beside the results twice: as keys, and as the set that is compared.
    this.#nameBytes ??= this.#definitions.reduce((sum, branch) => sum + branch.name.length * 6 + NAME_OVERHEAD_BYTES, 0);
    const room = MAX_BRANCH_RESULTS_BYTES - this.#nameBytes - others.reduce((sum, other) => sum + sizeOf(other), 0) - open * LEAST_BYTES;
    if (!isValue(stored)) return { f: fitFailure(stored.f, Math.max(LEAST_BYTES, room / (open + 1))) };
    if (sizeOf(stored) <= room) return stored;
    const limitBytes = MAX_BRANCH_RESULTS_BYTES;
    const message = `The results of the branches of ${this.entry.kind} "${this.#operation.name}" are too large: together they may take ${limitBytes} bytes`;
    return { f: toBranchFailure(new ActorError("value", "too_large", message, { metadata: { sizeBytes: stored.v.byteLength, limitBytes } })) };
  }
}

/** What the failure of a branch may take in any case, and what stands around each result. */
const LEAST_BYTES = 120;
const NAME_OVERHEAD_BYTES = 40;

const sizes = new WeakMap<StoredResult, number>();

function sizeOf(result: StoredResult): number {
  let size = isValue(result) ? result.v.byteLength + 10 : sizes.get(result);
  if (size === undefined) sizes.set(result, (size = encodeValue(result).byteLength));
  return size;
}

/** Read by its own members: it may have come from storage. */
function isValue(result: StoredResult): result is Extract<StoredResult, { v: unknown }> {
  return Object.hasOwn(result, "v");
}

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

/** The branches' results as one object, its keys in the order of the code. */
export function resultsByName(results: ReadonlyMap<string, Uint8Array>, names: readonly string[]): Record<string, unknown> {
  const byName = Object.create(null) as Record<string, unknown>;
  for (const name of names) {
    const bytes = results.get(name);
    byName[name] = bytes && decodeValue(bytes);
  }
  return byName;
}
