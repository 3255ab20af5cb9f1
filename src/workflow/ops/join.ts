import { decodeForWorkflow } from "../../protocol/index.js";
import { Branches, type BranchDefinition, type BranchResult } from "../branches.js";
import { JoinError } from "../errors.js";
import { branchError, joinFailure } from "../failure.js";
import { isTerminal } from "../history/entry.js";
import type { Operation } from "../operation.js";
import type { Scope } from "../scope.js";

/**
 * `ctx.join`: runs its branches in parallel and waits for all of them to settle.
 *
 * Entry: `join` with the branch names, written before anything its branches record; ends completed, or failed with every
 * branch's error. The branches' results are rows below it, each written once. Replay: the recorded results; no branch runs.
 */
export function join(
  scope: Scope,
  name: string,
  branches: Readonly<Record<string, { readonly run: (context: never) => unknown }>>,
): Promise<unknown> {
  const definitions = Object.entries(branches ?? {}).map(([branch, given]): BranchDefinition => ({
    name: branch,
    run: given?.run,
  }));
  const problem = Branches.problem("join", name, definitions);
  if (problem) return Promise.reject(problem);
  return scope.operate("join", name, (operation) => start(scope, operation, definitions));
}

function start(scope: Scope, operation: Operation, definitions: readonly BranchDefinition[]): void {
  const { activation } = operation;
  const branches = new Branches("join", scope, operation, definitions);
  const { entry } = branches;
  const mismatch = branches.mismatch();
  if (mismatch) return activation.diverge(mismatch);
  if (activation.collector)
    return branches.collect(branches.names, () =>
      isTerminal(entry) ? deliver(operation, branches) : operation.park(),
    );
  if (isTerminal(entry)) return deliver(operation, branches);
  const errors = new Map<string, Error>();
  let open = definitions.length;
  const ended = (result: BranchResult): void => {
    if ("error" in result) errors.set(result.name, result.error);
    open -= 1;
    if (open === 0) finish();
  };
  const finish = (): void => {
    if (errors.size === 0) activation.complete(entry);
    else {
      entry.status = "failed";
      entry.failure = joinFailure(
        new JoinError(
          Object.fromEntries(
            branches.names.flatMap((each) => (errors.has(each) ? [[each, errors.get(each) as Error]] : [])),
          ),
        ),
      );
      activation.put(entry);
    }
    operation.entry = entry;
    deliver(operation, branches);
  };
  branches.start(ended);
  if (definitions.length === 0) finish();
}

function deliver(operation: Operation, branches: Branches): void {
  const { entry } = operation;
  if (entry?.failure && entry.status === "failed") operation.reject(branchError(entry.failure, operation.name));
  // A join completed in storage format 1 holds its values itself.
  else operation.fulfil(entry?.value ? decodeForWorkflow(entry.value) : branches.values());
}
