import { ownField } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { describe } from "../activation/thrown.js";
import { waitFor } from "../activation/wait.js";

/** What background work needs from its actor. */
type BackgroundHost = Pick<ActorActivation, "abortSignal" | "holdLease" | "ports" | "timers" | "workChanged">;

/**
 * Work without a client. Work that must survive a crash (scheduled actions, `keepAwake`) holds the lease while it runs
 * (ALARM-12). Work that is only waited for (`waitUntil`) does not. A shutdown gives both time to finish.
 */
export class Background {
  readonly #activation: BackgroundHost;
  readonly #pending = new Set<Promise<void>>();
  #running = 0;

  constructor(activation: BackgroundHost) {
    this.#activation = activation;
  }

  get isBusy(): boolean {
    return this.#running > 0;
  }

  /** Runs the work and logs what it throws. On return the lease is in the dirty set and must be committed. */
  run(what: string, work: () => unknown): void {
    this.#running += 1;
    this.#activation.holdLease();
    this.#keep(what, work, () => {
      this.#running -= 1;
      this.#activation.workChanged();
    });
  }

  /** Keeps the object in memory until the promise settles, and logs a rejection. */
  waitFor(what: string, promise: unknown): void {
    this.#keep(
      what,
      () => promise,
      () => {},
    );
  }

  /** Resolves when no work is left, at `until` (epoch ms), or when the activation is over. */
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
        (error: unknown) => this.#activation.ports.log.error({ msg: `${what} failed`, stack: describe(error) }),
      )
      .finally(() => {
        this.#pending.delete(pending);
        ended();
      });
    this.#pending.add(pending);
    ownField(this.#activation.ports, "userCode")?.lingers(pending);
    this.#activation.ports.waitUntil(pending);
  }
}
