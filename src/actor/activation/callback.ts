import { Effects } from "../../protocol/index.js";
import type { OpenCallbacks } from "../state/open-callbacks.js";

/** One run of user code: an action, a hook, a listener, an attempt of a step. It is open from its making until it is over. */
export class Callback {
  /** As the log calls it: `action "increment"`, `onConnect`. */
  readonly description: string;
  /** What it begins beside its own course, and does not end without. */
  readonly effects = new Effects();
  readonly #stateEnded: () => void;

  constructor(open: OpenCallbacks, description: string) {
    this.description = description;
    this.#stateEnded = open.begin(description);
  }

  /** One whose end nobody waits for: what it begins settles as any promise. */
  static unawaited(open: OpenCallbacks, description: string): Callback {
    const callback = new Callback(open, description);
    callback.effects.close();
    return callback;
  }

  /**
   * Its code has come to its end, or nobody waits for that any longer: what it begins from here on is nobody's, and states
   * look once more at what it may have written through references of its own. Before its last commit; once or more.
   */
  over(): void {
    this.effects.close();
    this.#stateEnded();
  }
}
