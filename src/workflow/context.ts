import { ActorError, own } from "../protocol/index.js";
import type { BranchDefinition } from "./branches.js";
import type { EntryKind } from "./history/entry.js";
import { join } from "./ops/join.js";
import { loop, type LoopDefinition } from "./ops/loop.js";
import { race } from "./ops/race.js";
import { receive, type ReceiveOptions } from "./ops/receive.js";
import { removed } from "./ops/removed.js";
import { rollbackCheckpoint } from "./ops/rollback-checkpoint.js";
import { sleep, sleepUntil } from "./ops/sleep.js";
import { step } from "./ops/step.js";
import { tryBlock, type TryDefinition } from "./ops/try.js";
import { tryStep, type TryStepDefinition } from "./ops/try-step.js";
import { getVersion } from "./ops/version.js";
import type { EngineLog } from "./ports.js";
import type { Scope } from "./scope.js";
import type { StepDefinition } from "./step-execution.js";

/** The workflow's identity, the same in all of its contexts. */
export interface WorkflowIdentity {
  readonly actorId: string;
  readonly name: string;
  readonly key: readonly string[];
  readonly log: EngineLog;
  readonly env: unknown;
}

/**
 * The `ctx` of a workflow's function and, with another scope, of its iterations, branches and try blocks. It only
 * delegates: each primitive is one file in ops/.
 */
export class ScopeContext {
  readonly #scope: Scope;
  readonly #identity: WorkflowIdentity;
  readonly #queue: WorkflowQueue;
  #log: EngineLog | undefined;

  constructor(scope: Scope, identity: WorkflowIdentity) {
    this.#scope = scope;
    this.#identity = identity;
    this.#queue = new WorkflowQueue(scope);
  }

  get workflowId(): string {
    return this.#identity.actorId;
  }

  get actorId(): string {
    return this.#identity.actorId;
  }

  get name(): string {
    return this.#identity.name;
  }

  get key(): string[] {
    return [...this.#identity.key];
  }

  get log(): EngineLog {
    return (this.#log ??= quietLog(this.#identity.log, () => this.#scope.isReplaying));
  }

  get env(): unknown {
    return this.#identity.env;
  }

  get abortSignal(): AbortSignal {
    return this.#scope.abort.signal;
  }

  isEvicted(): boolean {
    return this.#scope.abort.isAborted;
  }

  step(nameOrConfig: string | StepDefinition, run?: StepDefinition["run"]): Promise<unknown> {
    return step(this.#scope, definition(nameOrConfig, run));
  }

  tryStep(nameOrConfig: string | TryStepDefinition, run?: StepDefinition["run"]): Promise<unknown> {
    return tryStep(this.#scope, definition<TryStepDefinition>(nameOrConfig, run));
  }

  try(nameOrConfig: string | TryDefinition, run?: TryDefinition["run"]): Promise<unknown> {
    return tryBlock(this.#scope, definition(nameOrConfig, run));
  }

  loop(nameOrConfig: string | LoopDefinition, run?: LoopDefinition["run"]): Promise<unknown> {
    return loop(this.#scope, definition(nameOrConfig, run));
  }

  join(
    name: string,
    branches: Readonly<Record<string, { readonly run: (context: never) => unknown }>>,
  ): Promise<unknown> {
    return join(this.#scope, name, branches);
  }

  race(name: string, branches: readonly BranchDefinition[]): Promise<unknown> {
    return race(this.#scope, name, branches);
  }

  get queue(): WorkflowQueue {
    return this.#queue;
  }

  rollbackCheckpoint(name: string): Promise<void> {
    return rollbackCheckpoint(this.#scope, name);
  }

  removed(name: string, originalKind: EntryKind | "try"): Promise<void> {
    return removed(this.#scope, name, originalKind);
  }

  getVersion(name: string, latest: number): Promise<number> {
    return getVersion(this.#scope, name, latest);
  }

  sleep(name: string, durationMs: number): Promise<void> {
    return sleep(this.#scope, name, durationMs);
  }

  sleepUntil(name: string, time: number | Date): Promise<void> {
    return sleepUntil(this.#scope, name, time);
  }
}

/** The receiving half of the actor's queue; only steps can send. */
class WorkflowQueue {
  readonly #scope: Scope;

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  next(name: string, options: ReceiveOptions = {}): Promise<unknown> {
    return receive(this.#scope, name, own(options), false);
  }

  nextBatch(name: string, options: ReceiveOptions = {}): Promise<unknown> {
    return receive(this.#scope, name, own(options), true);
  }

  get send(): never {
    throw stepOnly("queue.send");
  }
}

/** Features of the actor that only a step may use (FLOW-16). */
const STEP_ONLY = [
  "state",
  "vars",
  "db",
  "client",
  "broadcast",
  "schedule",
  "cron",
  "kv",
  "destroy",
  "keepAwake",
  "waitUntil",
] as const;

for (const feature of STEP_ONLY) {
  Object.defineProperty(ScopeContext.prototype, feature, {
    configurable: true,
    get() {
      throw stepOnly(feature);
    },
  });
}

function stepOnly(feature: string): ActorError {
  return new ActorError("workflow", "step_only", `\`${feature}\` is only available inside workflow steps`);
}

/** Turns both call forms, `(name, run)` and `(config)`, into a definition. */
function definition<D extends { readonly name: string }>(nameOrConfig: string | D, run: unknown): D {
  // Anything else fails where the scope checks the name.
  return own(
    typeof nameOrConfig === "object" && nameOrConfig !== null
      ? nameOrConfig
      : ({ name: nameOrConfig, run } as unknown as D),
  );
}

/** Wraps a logger so that it drops lines while `isReplaying`: they were logged when they first happened. */
function quietLog<L extends EngineLog>(log: L, isReplaying: () => boolean): L {
  return new Proxy(log, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => {
        // A child logger is as quiet as its parent.
        if (key === "child") return quietLog(Reflect.apply(member, target, args) as L, isReplaying);
        return isReplaying() ? undefined : (Reflect.apply(member, target, args) as unknown);
      };
    },
  });
}
