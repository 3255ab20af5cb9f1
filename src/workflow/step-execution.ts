/**
 * One step from its first call to its terminal result: attempts, backoff, timeout, interrupted attempts.
 *
 * Owns: the step's entry. Does not own: the step's context (the actor does), what its caller gets (ops/).
 * Invariants: one attempt at a time, and a result that comes after its attempt ended is dropped (FLOW-14); nothing is
 * written before the first attempt unless the activation is careful (ALARM-14).
 */
import { ActorError, encodeValue, own, decodeForWorkflow, MAX_INTERRUPTIONS, isThenable } from "../protocol/index.js";
import { Abort } from "./abort.js";
import type { Activation } from "./activation.js";
import { CriticalError, RollbackCheckpointError } from "./errors.js";
import { brandOf, notStorable } from "./failure.js";
import { beginAttempt, failAttempt, isTerminal, type Entry, type Failure, type FailureKind } from "./history/entry.js";
import { formatLocation } from "./history/location.js";
import type { Operation } from "./operation.js";
import type { AttemptReport, AttemptSession, InterceptedAttempt } from "./ports.js";
import { retryDelayMs, retryPolicy, retryProblem, type RetryConfig, type RetryPolicy } from "./retry.js";
import type { Scope } from "./scope.js";
import { toStoredError } from "./history/stored-error.js";
import type { Wait } from "./waiting.js";

export interface StepDefinition extends RetryConfig {
  readonly name: string;
  /** The name in errors and reports, if it differs: for a rollback handler, the step that it undoes. */
  readonly label?: string;
  readonly run: (step: never) => unknown;
  /** Undoes the step when the workflow fails; receives a step context of its own and the step's output. */
  readonly rollback?: (step: never, output: never) => unknown;
  readonly ephemeral?: boolean;
}

export type StepResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly failure: Failure; readonly attempts: number };

/** An attempt in flight. */
interface Attempt {
  readonly session: AttemptSession;
  readonly abort: Abort;
  /** Ends it with its scope. */
  readonly onScopeEnd: (reason: unknown) => void;
  timeout: Wait | undefined;
}

export class StepExecution {
  readonly #scope: Scope;
  readonly #operation: Operation;
  readonly #activation: Activation;
  readonly #step: StepDefinition;
  readonly #label: string;
  readonly #policy: RetryPolicy;
  readonly #deliver: (result: StepResult) => void;
  readonly #onFailedAttempt: (attempt: AttemptReport) => void;
  readonly #entry: Entry;
  #attempt: Attempt | undefined;
  /** Starts the next attempt. */
  #enter: () => void = () => {};

  /** Calls `deliver` once, inside a turn, with the terminal result; it must settle the operation. */
  constructor(
    scope: Scope,
    operation: Operation,
    step: StepDefinition,
    deliver: (result: StepResult) => void,
    onFailedAttempt: (attempt: AttemptReport) => void = (attempt) =>
      operation.activation.ports.report({ step: attempt }),
  ) {
    this.#scope = scope;
    this.#operation = operation;
    this.#activation = operation.activation;
    this.#step = step;
    this.#label = step.label ?? step.name;
    this.#policy = retryPolicy(step);
    this.#deliver = deliver;
    this.#onFailedAttempt = onFailedAttempt;
    this.#entry = operation.draft ??= this.#activation.newEntry("step", operation.location);
  }

  start(): void {
    const entry = this.#entry;
    if (this.#step.rollback && !this.#scope.hasCheckpoint) {
      const message = `Step "${this.#label}" has a rollback, but no ctx.rollbackCheckpoint stands before it in its scope or one around it`;
      return this.#activation.failRun(new RollbackCheckpointError(message));
    }
    if (isTerminal(entry)) return this.#deliverRecorded();
    this.#captureContext();
    // A recorded step keeps the options it started with, valid or not.
    const problem = this.#operation.entry ? undefined : retryProblem(this.#label, this.#step);
    if (problem) return this.#operation.reject(problem);
    // A rollback's replay stops at the first operation that did not complete (FLOW-21), and so does one of a recorded run.
    if (this.#activation.stopsAtEnd) return this.#operation.park();
    if (entry.status === "running") return this.#wasCutOff();
    if (entry.dueAt !== undefined && entry.dueAt > this.#activation.ports.now()) return this.#waitForRetry(entry.dueAt);
    this.#begin(true);
  }

  #deliverRecorded(): void {
    const { status, value, failure, attempts } = this.#entry;
    if (status === "failed" && failure) return this.#deliver({ ok: false, failure, attempts });
    this.#collect();
    this.#deliver({ ok: true, value: value && decodeForWorkflow(value) });
  }

  #collect(): void {
    const { collector } = this.#activation;
    const { rollback } = this.#step;
    if (!rollback || !collector) return;
    const { run: _run, rollback: _rollback, ...policy } = this.#step;
    const { value } = this.#entry;
    collector.add({
      entry: this.#entry,
      stepName: this.#label,
      step: { ...policy, run: (step) => rollback(step, (value && decodeForWorkflow(value)) as never) },
    });
  }

  #wasCutOff(): void {
    this.#entry.interrupted += 1;
    if (this.#entry.interrupted < MAX_INTERRUPTIONS) return this.#begin();
    this.#entry.attempts += 1;
    const message = `Step "${this.#label}" was cut off ${MAX_INTERRUPTIONS} times by a crash or reset of its object`;
    this.#fail("critical", new CriticalError(message, { code: "step_interrupted" }));
  }

  /** `here`: within the call of the step itself. */
  #begin(here = false): void {
    const run = here ? () => this.#run() : this.#enter;
    if (!this.#activation.ports.isCareful()) return this.#activation.beginWork(run, this);
    // One attempt at a time, to identify the one that keeps killing the object (ALARM-14).
    this.#activation.attempts.whenAlone(this, () => {
      if (this.#scope.isEnded) return this.#activation.attemptEnded(this);
      this.#entry.status = "running";
      delete this.#entry.dueAt;
      beginAttempt(this.#entry, this.#activation.ports.now());
      this.#activation.put(this.#entry);
      this.#activation.wantCommit();
      // The mark must survive a callback that kills the object before its first await.
      this.#activation.beginWork(() => void this.#activation.ports.confirmed().then(run), this);
    });
  }

  /** Later attempts run in the AsyncLocalStorage context of the call: a continuation runs in the context of its `then`. */
  #captureContext(): void {
    const entered = new Promise<void>((resolve) => (this.#enter = resolve));
    void entered.then(() => {
      this.#captureContext();
      if (!this.#activation.isHalted) this.#run();
    });
  }

  #run(): void {
    if (this.#scope.isEnded) return this.#activation.turn(() => this.#activation.attemptEnded(this), true);
    if (this.#activation.isHalted) return;
    const { ports } = this.#activation;
    const now = ports.now();
    beginAttempt(this.#entry, now);
    const abort = new Abort();
    const { location } = this.#operation;
    const session = ports.openAttempt({
      stepName: this.#label,
      get location() {
        return formatLocation(location);
      },
      attempt: this.#entry.attempts + 1,
      maxRetries: this.#policy.maxRetries,
      get abortSignal() {
        return abort.signal;
      },
    });
    const onScopeEnd = (reason: unknown): void => this.#endAttempt(reason);
    this.#scope.abort.follow(onScopeEnd);
    const attempt: Attempt = { session, abort, onScopeEnd, timeout: undefined };
    this.#attempt = attempt;
    const { timeoutMs } = this.#policy;
    if (timeoutMs !== undefined) {
      const fire = (): void => this.#timedOut(attempt);
      attempt.timeout = { at: now + timeoutMs, seq: this.#entry.seq, isOfAttempt: true, fire };
      this.#activation.waiting.addWait(attempt.timeout);
      ports.timersChanged();
    }
    try {
      const code = (): unknown =>
        ports.interceptAttempt
          ? ports.interceptAttempt(this.#intercepted(attempt))
          : this.#step.run(session.context as never);
      // The end of an ephemeral step may commit nothing.
      const returned = this.#step.ephemeral ? code() : session.call(code);
      if (!isThenable(returned)) return this.#fulfilled(attempt, returned);
      // Not its own `then`, which may throw.
      Promise.resolve(returned).then(
        (value) => this.#fulfilled(attempt, value),
        (error: unknown) => this.#rejected(attempt, error),
      );
    } catch (error) {
      this.#rejected(attempt, error);
    }
  }

  #intercepted({ session: { context }, abort }: Attempt): InterceptedAttempt {
    return {
      location: this.#operation.location,
      attempt: this.#entry.attempts + 1,
      context,
      abortSignal: abort.signal,
      run: () => this.#step.run(context as never),
    };
  }

  /** The callback has returned; the attempt ends when the effects it started have ended too. */
  #fulfilled(attempt: Attempt, value: unknown): void {
    const returned = (): void => this.#activation.turn(() => this.#returned(attempt, value), true);
    const begun = this.#attempt === attempt ? attempt.session.begun() : undefined;
    if (!begun) return returned();
    begun.then(returned, (error: unknown) => this.#activation.turn(() => this.#threw(attempt, error), true));
  }

  /** The same for a callback that has thrown, whose error goes before those of its effects. */
  #rejected(attempt: Attempt, error: unknown): void {
    const threw = (): void => this.#activation.turn(() => this.#threw(attempt, error), true);
    const begun = this.#attempt === attempt ? attempt.session.begun() : undefined;
    if (!begun) return threw();
    begun.then(threw, threw);
  }

  #returned(attempt: Attempt, value: unknown): void {
    if (this.#attempt !== attempt) return;
    let bytes: Uint8Array;
    try {
      bytes = encodeValue(value);
      attempt.session.succeed();
    } catch (thrown) {
      // A full queue may have room later: retry. A value that cannot be stored never can.
      if (ActorError.isActorError(thrown) && thrown.group === "queue") return this.#threw(attempt, thrown);
      this.#endAttempt(thrown);
      this.#entry.attempts += 1;
      this.#fail("critical", notStorable(this.#label, thrown));
      return;
    }
    // An ephemeral entry must not lag behind a state change that something else may commit (COMMIT-4).
    const wantsCommit = !this.#step.ephemeral || attempt.session.changedState;
    this.#endAttempt();
    this.#entry.attempts += 1;
    this.#entry.interrupted = 0;
    delete this.#entry.failure;
    this.#activation.complete(this.#entry, bytes);
    if (wantsCommit) this.#activation.wantCommit();
    this.#deliver({ ok: true, value: decodeForWorkflow(bytes) });
  }

  #threw(attempt: Attempt, thrown: unknown): void {
    if (this.#attempt !== attempt) return;
    this.#endAttempt();
    this.#entry.attempts += 1;
    this.#entry.interrupted = 0;
    if (this.#scope.claimMisuse(thrown)) return this.#fail("critical", thrown);
    if (attempt.session.isRefusal(thrown)) return this.#fail("critical", notStorable(this.#label, thrown));
    const brand = brandOf(thrown);
    if (brand) return this.#fail(brand, thrown);
    if (this.#entry.attempts > this.#policy.maxRetries) return this.#fail("exhausted", thrown);
    this.#retryLater(thrown);
  }

  #timedOut(attempt: Attempt): void {
    if (this.#attempt !== attempt) return;
    const error = new Error(`Step "${this.#label}" timed out after ${this.#policy.timeoutMs}ms`);
    error.name = "StepTimeoutError";
    this.#endAttempt(error);
    this.#entry.attempts += 1;
    this.#entry.interrupted = 0;
    if (!this.#policy.retryOnTimeout) return this.#fail("timeout", error);
    if (this.#entry.attempts > this.#policy.maxRetries) return this.#fail("timeout", error, true);
    this.#retryLater(error);
  }

  #retryLater(thrown: unknown): void {
    const delayMs = retryDelayMs(this.#policy, this.#entry.attempts, thrown);
    const now = this.#activation.ports.now();
    const dueAt = now + delayMs;
    this.#entry.status = "pending";
    failAttempt(this.#entry, own({ kind: "error" as const, error: toStoredError(thrown) }), now);
    this.#entry.dueAt = dueAt;
    this.#activation.put(this.#entry);
    this.#report(thrown, { retryDelay: delayMs, retryAt: dueAt });
    this.#waitForRetry(dueAt);
  }

  #waitForRetry(dueAt: number): void {
    this.#operation.park();
    const wait = {
      at: dueAt,
      seq: this.#entry.seq,
      retryOf: this.#entry,
      fire: (): void => {
        this.#operation.resume();
        this.#begin();
      },
      skip: (value: Uint8Array): void => {
        this.#activation.skip(this.#entry, value);
        this.#deliver({ ok: true, value: decodeForWorkflow(value) });
      },
    };
    this.#activation.waiting.addWait(wait);
    this.#operation.onEnd(() => this.#activation.waiting.removeWait(wait));
  }

  #fail(kind: FailureKind, thrown: unknown, exhausted = false): void {
    const failure: Failure = own({ kind, error: toStoredError(thrown), ...(exhausted ? { exhausted } : {}) });
    this.#entry.status = "failed";
    failAttempt(this.#entry, failure, this.#activation.ports.now());
    delete this.#entry.dueAt;
    this.#activation.put(this.#entry);
    this.#report(thrown);
    this.#activation.wantCommit();
    this.#deliver({ ok: false, failure, attempts: this.#entry.attempts });
  }

  #report(error: unknown, retry?: { retryDelay: number; retryAt: number }): void {
    const { attempts: attempt, startedAt, attemptStartedAt = startedAt } = this.#entry;
    this.#onFailedAttempt({
      stepName: this.#label,
      attempt,
      maxRetries: this.#policy.maxRetries,
      remainingRetries: Math.max(0, this.#policy.maxRetries - (attempt - 1)),
      willRetry: retry !== undefined,
      ...retry,
      ...(attemptStartedAt !== undefined && { ms: this.#activation.ports.now() - attemptStartedAt }),
      error,
    });
  }

  #endAttempt(abortReason?: unknown): void {
    const attempt = this.#attempt;
    if (!attempt) return;
    this.#attempt = undefined;
    if (attempt.timeout) this.#activation.waiting.removeWait(attempt.timeout);
    this.#scope.abort.unfollow(attempt.onScopeEnd);
    attempt.session.close();
    this.#activation.attemptEnded(this);
    if (abortReason !== undefined) attempt.abort.abort(abortReason);
  }
}
