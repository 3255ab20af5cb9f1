import { ActorError, decodeValue, encodeValue } from "../../protocol/index.js";
import { Branches, type BranchDefinition, type BranchResult } from "../branches.js";
import { RaceError } from "../errors.js";
import { branchError, raceFailure, toBranchFailure } from "../failure.js";
import { isTerminal, type Failure } from "../history/entry.js";
import type { Operation } from "../operation.js";
import type { Scope } from "../scope.js";

/**
 * `ctx.race`: the first branch that fulfils wins, a timer as much as a step (decision 1).
 *
 * Entry: `race` with the names and the rejections so far; completed with `{ winner, value }`. The win, and the end of
 * the losers' entries, are one commit; losers' signals fire, their operations reject, their late results are dropped.
 * Replay: the recorded winner, whatever the code's branches are by now.
 */
export function race(scope: Scope, name: string, branches: readonly BranchDefinition[]): Promise<unknown> {
  const problem = Array.isArray(branches)
    ? Branches.problem("race", name, branches as readonly BranchDefinition[])
    : new ActorError("workflow", "invalid_race", `The race "${name}" takes a list of { name, run }`);
  if (problem) return Promise.reject(problem);
  return scope.operate("race", name, (operation) => start(scope, operation, branches));
}

function start(scope: Scope, operation: Operation, definitions: readonly BranchDefinition[]): void {
  const { activation } = operation;
  const branches = new Branches("race", scope, operation, definitions);
  const { entry } = branches;
  if (isTerminal(entry)) {
    const winner = entry.value && (decodeValue(entry.value) as { winner: string }).winner;
    if (activation.collector && winner !== undefined) return branches.collect([winner], () => deliver(operation));
    return deliver(operation);
  }
  const mismatch = branches.mismatch();
  if (mismatch) return activation.diverge(mismatch);
  if (activation.collector) return operation.park();
  const rejections = new Map<string, Error>();
  const ended = (result: BranchResult): void => {
    if (operation.isSettled) return;
    if ("error" in result) {
      rejections.set(result.name, result.error);
      if (rejections.size === definitions.length) finish();
      return;
    }
    let bytes: Uint8Array;
    try {
      bytes = encodeValue({ winner: result.name, value: decodeValue(result.value) });
    } catch (error) {
      // The race is decided, but its winner cannot be kept: that is its failure, and the losers end all the same (W8).
      branches.evictAllBut(undefined);
      activation.wantCommit();
      return fail(toBranchFailure(error));
    }
    branches.evictAllBut(result.name);
    entry.data = { branches: branches.names };
    activation.complete(entry, bytes);
    activation.wantCommit();
    operation.entry = entry;
    deliver(operation);
  };
  const fail = (failure: Failure): void => {
    entry.status = "failed";
    entry.failure = failure;
    entry.data = { branches: branches.names };
    activation.put(entry);
    operation.entry = entry;
    deliver(operation);
  };
  const finish = (): void => {
    const message = definitions.length === 0 ? `Race "${operation.name}" has no branches` : "All branches failed";
    fail(raceFailure(new RaceError(message, branches.names.flatMap((name) => (rejections.has(name) ? [{ name, error: rejections.get(name) as Error }] : [])))));
  };
  branches.start(ended);
  if (definitions.length === 0) finish();
}

function deliver(operation: Operation): void {
  const { entry } = operation;
  if (entry?.failure && entry.status === "failed") operation.reject(branchError(entry.failure, operation.name));
  else operation.fulfil(entry?.value && decodeValue(entry.value));
}
