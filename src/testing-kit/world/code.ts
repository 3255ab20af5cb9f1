import type { RunningCode } from "../../actor/index.js";
import type { WorldActor } from "../../testing/index.js";
import { CURRENT, type CountedCode } from "./current-code.js";

/**
 * One piece of user code: a callback, an attempt of a step, the workflow outside of its steps, a call of the test.
 *
 * It runs from its beginning to its end, but not while it waits for something of the world's own (a message, the answer of
 * another actor) and has no real timer or read of a file open beside that.
 */
export class Code implements RunningCode, CountedCode {
  readonly what: string;
  readonly actor: WorldActor | undefined;
  readonly #changed: (code: Code) => void;
  #isOpen = true;
  #waits = 0;
  #lingering = 0;
  #realWork = 0;

  /** `changed` is called whenever it may have begun or ceased to run. */
  constructor(what: string, actor: WorldActor | undefined, changed: (code: Code) => void) {
    this.what = what;
    this.actor = actor;
    this.#changed = changed;
  }

  get runs(): boolean {
    if (this.#isOpen) return this.#waits === 0 || this.#realWork > 0;
    return this.#lingering > 0 && this.#realWork > 0;
  }

  /** Whether it can run no more. */
  get isOver(): boolean {
    return !this.#isOpen && this.#lingering === 0;
  }

  call<T>(code: () => T): T {
    return CURRENT.run({ actor: this.actor, code: this }, code);
  }

  end(): void {
    this.#isOpen = false;
    this.#changed(this);
  }

  waits(promise: PromiseLike<unknown>): void {
    this.#until(promise, (by) => (this.#waits += by));
  }

  lingers(promise: PromiseLike<unknown>): void {
    this.#until(promise, (by) => (this.#lingering += by));
  }

  countRealWork(by: 1 | -1): void {
    this.#realWork += by;
    this.#changed(this);
  }

  #until(promise: PromiseLike<unknown>, count: (by: 1 | -1) => void): void {
    count(1);
    this.#changed(this);
    const settled = (): void => {
      count(-1);
      this.#changed(this);
    };
    promise.then(settled, settled);
  }
}
