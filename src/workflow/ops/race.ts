import { ActorError, decodeValue, encodeValue, ownField, decodeForWorkflow } from "../../protocol/index.js";
import { Branches, type BranchDefinition, type BranchResult, type StoredLoser } from "../branches.js";
import { RaceError } from "../errors.js";
import { branchError, raceFailure, toBranchFailure } from "../failure.js";
import { isTerminal, type Entry, type Failure } from "../history/entry.js";
import type { Operation } from "../operation.js";
import type { Scope } from "../scope.js";

/**
 * `ctx.race`: the first branch to fulfil wins, whether it awaits a timer or a step (FLOW-18).
 *
 * Entry: `race` with the branch names; completed with `{ winner, value }`. One commit records the win and deletes the
 * losers' entries; the losers' signals fire, their operations reject, and their late results are dropped.
 * Replay: the recorded winner, whatever branches the code has now.
 */
export function race(scope: Scope, name: string, branches: readonly BranchDefinition[]): Promise<unknown> {
  const problem = Array.isArray(branches)
    ? Branches.problem("race", name, branches as readonly BranchDefinition[])
    : new ActorError("workflow", "invalid_race", `The race "${name}" needs an array of { name, run }`);
  if (problem) return Promise.reject(problem);
  return scope.operate("race", name, (operation) => start(scope, operation, branches));
}

function start(scope: Scope, operation: Operation, definitions: readonly BranchDefinition[]): void {
  const { activation } = operation;
  // A decided race whose winner was rolled back in part: it stays decided, and only the winner runs again.
  const winner = operation.entry && keptWinner(operation.entry);
  const running = winner === undefined ? definitions : definitions.filter(({ name }) => name === winner);
  const branches = new Branches("race", scope, operation, running);
  const { entry } = branches;
  if (isTerminal(entry)) {
    const won = entry.value && (decodeValue(entry.value) as { winner: string }).winner;
    if (activation.collector && won !== undefined) return branches.collect([won], () => deliver(operation));
    return deliver(operation);
  }
  const mismatch = running.length > 0 && winner !== undefined ? undefined : branches.mismatch();
  if (mismatch) return activation.diverge(mismatch);
  if (activation.collector) return operation.park();
  const rejections = new Map<string, Error>();
  const ended = (result: BranchResult): void => {
    if (operation.isSettled) return;
    if ("error" in result) {
      rejections.set(result.name, result.error);
      if (rejections.size === running.length) finish();
      return;
    }
    const losers = branches.losers(result.name);
    let bytes: Uint8Array;
    try {
      bytes = encodeValue({ winner: result.name, value: decodeValue(result.value) });
    } catch (error) {
      // The race is decided, but the winner's value cannot be stored: the race fails, and the losers end anyway (FLOW-18).
      branches.evictAllBut(undefined);
      activation.wantCommit();
      return fail(toBranchFailure(error), losers);
    }
    branches.evictAllBut(result.name);
    entry.data = decided(entry, losers, result.name);
    activation.complete(entry, bytes);
    activation.wantCommit();
    operation.entry = entry;
    deliver(operation);
  };
  const fail = (failure: Failure, losers: readonly StoredLoser[] = []): void => {
    entry.status = "failed";
    entry.failure = failure;
    entry.data = decided(entry, losers);
    activation.put(entry);
    operation.entry = entry;
    deliver(operation);
  };
  const finish = (): void => {
    const message = definitions.length === 0 ? `Race "${operation.name}" has no branches` : "All branches failed";
    fail(
      raceFailure(
        new RaceError(
          message,
          branches.names.flatMap((name) =>
            rejections.has(name) ? [{ name, error: rejections.get(name) as Error }] : [],
          ),
        ),
      ),
    );
  };
  branches.start(ended);
  if (definitions.length === 0) finish();
}

/** The winner of a race that is decided, also if part of it has started over since. */
export function keptWinner(race: Entry): string | undefined {
  return ownField(race.data as { readonly winner?: string }, "winner");
}

/** What the losers of a race were doing when it was decided. */
export function losersOf(race: Entry): readonly StoredLoser[] {
  return ownField(race.data as { readonly losers?: readonly StoredLoser[] }, "losers") ?? [];
}

/** The data of a race that has ended: its recorded branches, its losers, and its winner, which it may have had before. */
function decided(race: Entry, losers: readonly StoredLoser[], winner = keptWinner(race)): object {
  const { branches } = race.data as { readonly branches: readonly string[] };
  // When only the winner runs again, the others have lost before.
  const lost = keptWinner(race) === undefined ? losers : losersOf(race);
  return { branches, ...(winner !== undefined && { winner }), ...(lost.length > 0 && { losers: lost }) };
}

function deliver(operation: Operation): void {
  const { entry } = operation;
  if (entry?.failure && entry.status === "failed") operation.reject(branchError(entry.failure, operation.name));
  else operation.fulfil(entry?.value && decodeForWorkflow(entry.value));
}
