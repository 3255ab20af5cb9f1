import { ActorError } from "../../protocol/index.js";
import type { StoredMessage } from "../../workflow/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { PlainReceive, PlainReceivers } from "../activation/actor-queue.js";
import { abortedBy, wait } from "../activation/wait.js";

interface Waiting {
  readonly receive: PlainReceive;
  readonly give: (messages: StoredMessage[]) => void;
}

/** Waits of actions and run handlers, in the order in which they arrived; the workflow's waits come before them (MSG-2). */
export class MessageReceivers implements PlainReceivers {
  readonly #activation: ActorActivation;
  readonly #waiting = new Set<Waiting>();
  /** Queues that the run handler has asked for. */
  readonly #asked = new Set<string>();
  #asksForAll = false;

  constructor(activation: ActorActivation) {
    this.#activation = activation;
  }

  /** True while the run handler waits here. */
  get holdsRunHandler(): boolean {
    return [...this.#waiting].some((waiting) => waiting.receive.isRunHandler);
  }

  runHandlerReceives(queue: string): boolean {
    return this.#asksForAll || this.#asked.has(queue);
  }

  /** @throws actor/aborted, actor/restarting */
  async receive(receive: PlainReceive): Promise<StoredMessage[]> {
    if (receive.isRunHandler) {
      this.#activation.callbacks.runHandlerWaits();
      if (receive.names) for (const name of receive.names) this.#asked.add(name);
      else this.#asksForAll = true;
    }
    const ready = this.#take(receive);
    if (ready.length > 0 || receive.timeoutMs === 0) return ready;
    return this.#wait(receive);
  }

  /** Gives what is there to those who wait for it. */
  offer(): void {
    for (const waiting of this.#waiting) {
      const messages = this.#take(waiting.receive);
      if (messages.length > 0) waiting.give(messages);
    }
  }

  /** A plain completable message stays visible to others: it is only read (MSG-5). */
  #take(receive: PlainReceive): StoredMessage[] {
    const { queue } = this.#activation;
    const filter = { names: receive.names, count: receive.count, notAfter: Number.POSITIVE_INFINITY, hold: false };
    if (receive.hold) return queue.peek(filter);
    const messages = queue.take(filter);
    if (messages.length > 0) this.#activation.commitOrThrow();
    return messages;
  }

  /** A signal counts before a message of the same turn; that the activation ends, before what the callback asked for. */
  #wait(receive: PlainReceive): Promise<StoredMessage[]> {
    const { timers, ports, shutdown } = this.#activation;
    const { timeoutMs, signals } = receive;
    const deadline =
      timeoutMs === undefined ? undefined : { at: ports.now() + timeoutMs, outcome: (): StoredMessage[] => [] };
    const aborts = [abortedBy(shutdown.signal), ...signals.map((signal) => ({ signal, outcome: throwAborted }))];
    return wait(timers, { deadline, aborts }, ({ resolve }) => {
      const waiting: Waiting = { receive, give: resolve };
      this.#waiting.add(waiting);
      if (receive.isRunHandler) this.#activation.workChanged();
      return () => {
        this.#waiting.delete(waiting);
        if (receive.isRunHandler) this.#activation.workChanged();
      };
    });
  }
}

export function aborted(): ActorError {
  return new ActorError("actor", "aborted", "The wait was aborted");
}

export function throwAborted(): never {
  throw aborted();
}
