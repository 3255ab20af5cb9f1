import { Effects } from "../../protocol/index.js";
import type { OpenCallbacks } from "../state/open-callbacks.js";

/** One run of user code: an action, a hook, a listener, an attempt of a step. Open from construction until `over`. */
export class Callback {
  /** Its name in the log: `action "increment"`, `onConnect`. */
  readonly description: string;
  /** Effects it began without awaiting them. It ends after they have settled. */
  readonly effects = new Effects();
  readonly #stateEnded: () => void;

  constructor(open: OpenCallbacks, description: string) {
    this.description = description;
    this.#stateEnded = open.begin(description);
  }

  /** A callback that nobody waits for. Its effects settle like any promise. */
  static unawaited(open: OpenCallbacks, description: string): Callback {
    const callback = new Callback(open, description);
    callback.effects.close();
    return callback;
  }

  /**
   * Its code has ended, or nobody waits for it any longer. States check once more what it wrote through references of
   * its own. Call it before the last commit; calling it again is harmless.
   */
  over(): void {
    this.effects.close();
    this.#stateEnded();
  }
}
