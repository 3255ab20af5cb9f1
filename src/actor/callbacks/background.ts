import type { ActorActivation } from "../activation/activation.js";
import { describe } from "../activation/thrown.js";
import { waitFor } from "../activation/wait.js";

/**
 * Work with no client. What a crash would interrupt (scheduled actions, `keepAwake`, a run handler between its waits) holds
 * the lease while it runs (ALARM-12); what is only waited for (`waitUntil`) does not. Either is given time at the actor's end.
 */
export class Background {
  readonly #activation: ActorActivation;
  readonly #pending = new Set<Promise<void>>();
  #running = 0;

  constructor(activation: ActorActivation) {
    this.#activation = activation;
  }

  get isBusy(): boolean {
    return this.#running > 0;
  }

  /** Runs to the end; what it throws is logged. The lease is in the dirty set when this returns, and must be committed. */
  run(what: string, work: () => unknown): void {
    this.#running += 1;
    this.#activation.holdLease();
    this.#keep(what, work, () => {
      this.#running -= 1;
      this.#activation.workChanged();
    });
  }

  /** Nobody else awaits it: a rejection is logged, the object stays until it settles. */
  waitFor(what: string, promise: unknown): void {
    this.#keep(
      what,
      () => promise,
      () => {},
    );
  }

  /** Resolves when nothing of it is left, at a time in epoch ms, or with the activation, which takes its timers along. */
  async settled(until: number): Promise<void> {
    const { timers, ports, abortSignal } = this.#activation;
    if (until <= ports.now()) return;
    const outcome = (): void => {};
    await waitFor(
      timers,
      { deadline: { at: until, outcome }, aborts: [{ signal: abortSignal, outcome }] },
      this.#allSettled(),
    );
  }

  async #allSettled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  #keep(what: string, work: () => unknown, ended: () => void): void {
    const pending = (async () => work())()
      .then(
        () => {},
        (error: unknown) => this.#activation.ports.log.error({ msg: `${what} failed`, error: describe(error) }),
      )
      .finally(() => {
        this.#pending.delete(pending);
        ended();
      });
    this.#pending.add(pending);
    this.#activation.ports.waitUntil(pending);
  }
}
