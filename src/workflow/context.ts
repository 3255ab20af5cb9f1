import { ActorError } from "../protocol/index.js";
import { sleep, sleepUntil } from "./ops/sleep.js";
import { step } from "./ops/step.js";
import type { EngineLog } from "./ports.js";
import type { Scope } from "./scope.js";
import type { StepDefinition } from "./step-execution.js";

/** Who the workflow is; the same in every context of it. */
export interface WorkflowIdentity {
  readonly actorId: string;
  readonly name: string;
  readonly key: readonly string[];
  readonly log: EngineLog;
}

/**
 * What a workflow's function gets, and, with another scope, its loops, branches and try blocks. Only delegates: each
 * primitive is one file in ops/.
 */
export class WorkflowContext {
  readonly #scope: Scope;
  readonly #identity: WorkflowIdentity;

  constructor(scope: Scope, identity: WorkflowIdentity) {
    this.#scope = scope;
    this.#identity = identity;
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
    return this.#identity.log;
  }

  get abortSignal(): AbortSignal {
    return this.#scope.abortSignal;
  }

  isEvicted(): boolean {
    return this.#scope.abortSignal.aborted;
  }

  step(nameOrConfig: string | StepDefinition, run?: StepDefinition["run"]): Promise<unknown> {
    return step(this.#scope, stepDefinition(nameOrConfig, run));
  }

  sleep(name: string, durationMs: number): Promise<void> {
    return sleep(this.#scope, name, durationMs);
  }

  sleepUntil(name: string, time: number | Date): Promise<void> {
    return sleepUntil(this.#scope, name, time);
  }
}

/** Features of the actor that only a step may use (decision 15). */
const STEP_ONLY = ["state", "vars", "db", "client", "broadcast", "schedule", "kv", "destroy", "keepAwake", "waitUntil"] as const;

for (const feature of STEP_ONLY) {
  Object.defineProperty(WorkflowContext.prototype, feature, {
    configurable: true,
    get() {
      throw new ActorError("workflow", "step_only", `\`${feature}\` is only available inside workflow steps`);
    },
  });
}

function stepDefinition(nameOrConfig: string | StepDefinition, run: StepDefinition["run"] | undefined): StepDefinition {
  if (typeof nameOrConfig !== "string") return nameOrConfig;
  return { name: nameOrConfig, run: run as StepDefinition["run"] };
}
