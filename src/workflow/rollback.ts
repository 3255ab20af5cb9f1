/**
 * Rolls back a failed workflow (FLOW-21): a read-only replay of its function collects the rollback handlers of completed
 * steps, which then run in reverse order of completion, each recorded like a step.
 */
import { encodeValue, own } from "../protocol/index.js";
import { Activation, type Compensation } from "./activation.js";
import { describeError, type WorkflowError } from "./failure-report.js";
import type { History } from "./history/history.js";
import type { Location } from "./history/location.js";
import { fromStoredError } from "./history/stored-error.js";
import type { WorkflowPorts } from "./ports.js";
import { Scope } from "./scope.js";
import { runInScope } from "./scope-function.js";
import { StepExecution } from "./step-execution.js";

/** Where handlers are recorded: below a number, which no name can be, by the `seq` of the step they undo. */
export const HANDLERS: Location = [-1];

/** A rollback handler that failed for good. */
export interface RollbackFailure {
  readonly stepName: string;
  readonly error: WorkflowError;
}

export interface UndoOptions {
  readonly ports: WorkflowPorts;
  readonly history: History;
  readonly createContext: (scope: Scope) => object;
  readonly run: (context: never) => unknown;
}

/** The current phase of the rollback, so that the run can stop it. */
export interface UndoPhase {
  readonly activation: Activation;
  readonly root: Scope;
}

/** Without a checkpoint no step has a rollback handler, and no replay is needed. */
export function hasCheckpoint(history: History): boolean {
  for (const entry of history.entries()) if (entry.kind === "rollback_checkpoint") return true;
  return false;
}

/**
 * Rolls back, then calls `ended` with the handlers that failed for good. Never calls it if the activation is lost or the
 * code diverged. Each phase starts in the turn that ends the one before, so that the run counts as busy throughout.
 */
export function undo(
  options: UndoOptions,
  onPhase: (phase: UndoPhase) => void,
  ended: (failed: RollbackFailure[]) => void,
): void {
  collect(options, onPhase, (found) => {
    found.sort((a, b) => (b.entry.completedSeq ?? 0) - (a.entry.completedSeq ?? 0));
    runHandlers(options, found, onPhase, ended);
  });
}

function collect(
  options: UndoOptions,
  onPhase: (phase: UndoPhase) => void,
  collected: (found: Compensation[]) => void,
): void {
  const found: Compensation[] = [];
  const done = (): void => {
    // Evicted: the workflow was cancelled, or the actor destroyed, during this replay.
    if (activation.isHalted || root.isEvicted) return;
    activation.halt();
    collected(found);
  };
  const activation = new Activation(readOnly(options.ports, done), options.history, {
    add: (each) => void found.push(each),
  });
  activation.createContext = options.createContext;
  activation.failRun = done;
  const root = new Scope(activation, []);
  onPhase({ activation, root });
  activation.turn(() => runInScope(root, (context) => options.run(context as never), done));
}

function runHandlers(
  options: UndoOptions,
  compensations: readonly Compensation[],
  onPhase: (phase: UndoPhase) => void,
  ended: (failed: RollbackFailure[]) => void,
): void {
  const activation = new Activation(options.ports, options.history);
  const root = new Scope(activation, HANDLERS);
  onPhase({ activation, root });
  const failed: RollbackFailure[] = [];
  const undoAll = async (): Promise<void> => {
    for (const compensation of compensations) {
      await undoStep(root, compensation).catch((error: unknown) => {
        if (failed.length < MAX_REPORTED)
          failed.push({ stepName: compensation.stepName, error: shortened(describeError(error)) });
      });
    }
  };
  activation.turn(() => runInScope(root, undoAll, () => ended(failed)));
}

// How many failed handlers the actor's record keeps, and how much of each.
const MAX_REPORTED = 100;
const MAX_REPORTED_TEXT = 200;
const MAX_REPORTED_BYTES = 500;

function shortened(error: WorkflowError): WorkflowError {
  const message =
    error.message.length > MAX_REPORTED_TEXT ? `${error.message.slice(0, MAX_REPORTED_TEXT)}…` : error.message;
  const fits = error.metadata === undefined || encodeValue(error.metadata).byteLength <= MAX_REPORTED_BYTES;
  return {
    name: error.name.slice(0, MAX_REPORTED_TEXT),
    message,
    ...(fits && error.metadata ? { metadata: error.metadata } : {}),
  };
}

function undoStep(root: Scope, compensation: Compensation): Promise<unknown> {
  const { ports } = root.activation;
  const { stepName } = compensation;
  const definition = own({ ...compensation.step, name: String(compensation.entry.seq), label: stepName });
  return root.operate("step", definition.name, (operation) => {
    new StepExecution(
      root,
      operation,
      definition,
      (result) => (result.ok ? operation.fulfil(undefined) : operation.reject(fromStoredError(result.failure.error))),
      ({ willRetry, error }) => {
        if (!willRetry) ports.report({ rollback: { stepName, error } });
      },
    ).start();
  });
}

/** Ports for the collecting replay: it writes nothing, and ends when the function parks. */
function readOnly(ports: WorkflowPorts, parked: () => void): WorkflowPorts {
  return {
    now: () => ports.now(),
    yield: () => ports.yield(),
    nextSeq: () => ports.nextSeq(),
    put: () => {},
    delete: () => {},
    requireFormat: () => {},
    commit: () => true,
    beginWork: () => {},
    parked,
    timersChanged: () => {},
    isCareful: () => false,
    confirmed: () => ports.confirmed(),
    openAttempt: (info) => ports.openAttempt(info),
    finished: () => {},
    rollingBack: () => {},
    diverged: (error) => ports.diverged(error),
    report: () => {},
    messages: ports.messages,
    log: ports.log,
  };
}
