import { isThenable } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { Callback } from "../activation/callback.js";
import type { Handler } from "../definition/compiled-actor.js";
import { CallbackContext, READY } from "./callback-context.js";
import { describe } from "../activation/thrown.js";

/**
 * `onStateChange`: told of changes of the state once they are committed, at most once a turn and a callback.
 *
 * Rules (COMMIT-12): what a callback changed is told before its caller is answered, what other code did by the end
 * of the turn. What the first state was made of is no change; nothing is told before the vars exist. The hook only reads.
 */
export class StateChanges {
  readonly #activation: ActorActivation;
  #watching = false;
  #due = false;
  /** The state's version when the watch began, until the first commit: what it was made of is no change. */
  #madeAt: number | undefined;
  /** A callback has ended whose changes the next commit brings. */
  #endedDirty = false;

  constructor(activation: ActorActivation) {
    this.#activation = activation;
  }

  /** From now on: the vars exist. `isNew`: the next commit brings the first state. */
  watch(isNew: boolean): void {
    this.#watching = this.#activation.actor.config.onStateChange !== undefined;
    this.#madeAt = isNew ? this.#activation.state?.version : undefined;
  }

  /** A commit has stored another state. */
  committed(): void {
    if (!this.#watching) return;
    const isFirst = this.#madeAt !== undefined && this.#madeAt === this.#activation.state?.version;
    this.#madeAt = undefined;
    if (isFirst) return;
    this.#due = true;
    // Not inside the commit, in the middle of whatever asked for it.
    const later = this.#endedDirty ? Promise.resolve() : this.#activation.ports.yield();
    this.#endedDirty = false;
    void later.then(() => this.tell());
  }

  /** A callback has ended: what it changed is told now, or with the commit that is to come. */
  callbackEnded(): void {
    if (!this.#watching) return;
    this.tell();
    this.#endedDirty = this.#activation.state?.isChanged ?? false;
  }

  /** Tells what is due. Never throws. */
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
    const failed = (error: unknown): void => ports.log.error({ msg: "onStateChange failed", error: describe(error) });
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
