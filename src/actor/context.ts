import { ActorError } from "../protocol/index.js";
import type { AttemptInfo, AttemptSession } from "../workflow/index.js";
import type { ActorActivation } from "./activation.js";
import type { StateView } from "./live-state.js";
import type { Logger } from "./ports.js";

/** Which members a callback may use already (`spec/api.md` B.9). */
export interface Stage {
  readonly state: boolean;
  readonly vars: boolean;
}
export const BEFORE_STATE: Stage = { state: false, vars: false };
export const BEFORE_VARS: Stage = { state: true, vars: false };
export const READY: Stage = { state: true, vars: true };

/** What hooks and actions get. Lives as long as user code keeps it; its changes are always tracked. */
export class CallbackContext {
  readonly #runtime: ActorActivation;
  readonly #stage: Stage;
  readonly #signal: AbortSignal;
  readonly request?: Request;

  constructor(runtime: ActorActivation, stage: Stage, options: { readonly signal?: AbortSignal; readonly request?: Request } = {}) {
    this.#runtime = runtime;
    this.#stage = stage;
    this.#signal = options.signal ?? runtime.abortSignal;
    if (options.request) this.request = options.request;
  }

  get actorId(): string {
    return this.#runtime.record.actorId;
  }
  get name(): string {
    return this.#runtime.record.name;
  }
  get key(): string[] {
    return [...this.#runtime.record.key];
  }
  get region(): string {
    return this.#runtime.ports.region;
  }
  get log(): Logger {
    return this.#runtime.ports.log;
  }
  get abortSignal(): AbortSignal {
    return this.#signal;
  }
  get aborted(): boolean {
    return this.#signal.aborted;
  }

  get state(): unknown {
    return this.#view().value;
  }
  set state(value: unknown) {
    this.#view().value = value;
  }

  get vars(): unknown {
    if (!this.#stage.vars) throw new ActorError("actor", "vars_not_ready", "`vars` does not exist yet in this hook");
    return this.#runtime.vars;
  }
  set vars(value: unknown) {
    this.#runtime.vars = value;
  }

  client(): unknown {
    return this.#runtime.client();
  }

  saveState(options?: { readonly immediate?: boolean; readonly maxWait?: number }): Promise<void> {
    return this.#runtime.save(options?.immediate ?? false);
  }

  #view(): StateView {
    if (!this.#stage.state) throw new ActorError("actor", "state_not_ready", "`state` does not exist yet in this hook");
    return this.#runtime.stateView();
  }
}

/** Whether an attempt is still running; shared by its context and its session. */
interface Gate {
  open: boolean;
}

/** Begins an attempt's view of the actor. */
export function openAttempt(runtime: ActorActivation, info: AttemptInfo): AttemptSession {
  const gate: Gate = { open: true };
  return {
    context: new StepContext(runtime, info, gate),
    // The state is measured before the success is recorded, so that what cannot be stored is this step's failure.
    succeed: () => void runtime.state?.encodeChanges(),
    close: () => {
      gate.open = false;
    },
  };
}

/** What a step's callback gets: dead once its attempt has ended. */
class StepContext {
  readonly #runtime: ActorActivation;
  readonly #info: AttemptInfo;
  readonly #gate: Gate;
  readonly #view: StateView | undefined;

  constructor(runtime: ActorActivation, info: AttemptInfo, gate: Gate) {
    this.#runtime = runtime;
    this.#info = info;
    this.#gate = gate;
    this.#view = runtime.state?.createView(() => this.#check("state"));
  }

  get actorId(): string {
    return this.#runtime.record.actorId;
  }
  get name(): string {
    return this.#runtime.record.name;
  }
  get key(): string[] {
    return [...this.#runtime.record.key];
  }
  get log(): Logger {
    return this.#runtime.ports.log;
  }
  get abortSignal(): AbortSignal {
    return this.#info.abortSignal;
  }
  get attempt(): number {
    return this.#info.attempt;
  }
  get maxRetries(): number {
    return this.#info.maxRetries;
  }

  get state(): unknown {
    return this.#stateView().value;
  }
  set state(value: unknown) {
    this.#stateView().value = value;
  }

  get vars(): unknown {
    this.#check("vars");
    return this.#runtime.vars;
  }
  set vars(value: unknown) {
    this.#check("vars");
    this.#runtime.vars = value;
  }

  client(): unknown {
    this.#check("client");
    return this.#runtime.client(() => this.#check("client"));
  }

  #stateView(): StateView {
    this.#check("state");
    return this.#view ?? this.#runtime.stateView();
  }

  #check(feature: string): void {
    if (this.#gate.open) return;
    throw new ActorError(
      "workflow",
      "step_ended",
      `\`${feature}\` is only available inside workflow steps: step "${this.#info.stepName}", attempt ${this.#info.attempt}, has ended`,
    );
  }
}
