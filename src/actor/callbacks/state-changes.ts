import { isThenable } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { Callback } from "../activation/callback.js";
import type { Handler } from "../definition/compiled-actor.js";
import { CallbackContext, READY } from "./callback-context.js";
import { describe } from "../activation/thrown.js";

/**
 * Calls `onStateChange` once changes of the state are committed, at most once per callback and per turn.
 *
 * Rules (COMMIT-12): for changes of a callback the hook runs before the caller gets its answer, for other changes by the
 * end of the turn. Creating the first state is not a change. The hook never runs before `vars` exists, and only reads.
 */
export class StateChanges {
  readonly #activation: ActorActivation;
  #watching = false;
  #due = false;
  /** The version of a new actor's first state, until the first commit. Storing that version is not a change. */
  #firstVersion: number | undefined;
  /** A callback has ended whose changes are not committed yet. */
  #endedDirty = false;

  constructor(activation: ActorActivation) {
    this.#activation = activation;
  }

  /** Starts watching, once `vars` exists. `isNew`: the next commit stores the first state. */
  watch(isNew: boolean): void {
    this.#watching = this.#activation.actor.config.onStateChange !== undefined;
    this.#firstVersion = isNew ? this.#activation.state?.version : undefined;
  }

  /** A commit has stored a changed state. */
  committed(): void {
    if (!this.#watching) return;
    const isFirst = this.#firstVersion !== undefined && this.#firstVersion === this.#activation.state?.version;
    this.#firstVersion = undefined;
    if (isFirst) return;
    this.#due = true;
    // Not inside the commit, which runs in the middle of other code.
    const later = this.#endedDirty ? Promise.resolve() : this.#activation.ports.yield();
    this.#endedDirty = false;
    void later.then(() => this.tell());
  }

  /** A callback has ended. Reports its changes now, or with the next commit. */
  callbackEnded(): void {
    if (!this.#watching) return;
    this.tell();
    this.#endedDirty = this.#activation.state?.isChanged ?? false;
  }

  /** Calls the hook if a change is due. Never throws. */
  tell(): void {
    const { state, actor, ports, abortSignal } = this.#activation;
    const { onStateChange } = actor.config;
    if (!this.#due || !state || !onStateChange || abortSignal.aborted) return;
    this.#due = false;
    const view = state.createView({ isReadOnly: true });
    const callback = Callback.unawaited(this.#activation.callbacks, "onStateChange");
    const context = new CallbackContext(this.#activation, READY, {
      callback,
      state: view,
      logged: { hook: "onStateChange" },
    });
    const failed = (error: unknown): void => ports.log.error({ msg: "onStateChange failed", stack: describe(error) });
    try {
      const returned: unknown = state.whileLocked(() => (onStateChange as Handler)(context, view.value));
      if (isThenable(returned)) ports.waitUntil(Promise.resolve(returned).catch(failed));
    } catch (error) {
      failed(error);
    } finally {
      callback.over();
      this.#activation.callbackEnded(callback);
    }
  }
}
