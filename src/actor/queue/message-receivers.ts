import { ActorError, ownField } from "../../protocol/index.js";
import type { StoredMessage } from "../../workflow/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { PlainReceive, PlainReceivers } from "../activation/actor-queue.js";
import { abortedBy, wait } from "../activation/wait.js";

interface PendingReceive {
  readonly receive: PlainReceive;
  readonly resolve: (messages: StoredMessage[]) => void;
}

/** What receives need from their actor. */
type ReceiverHost = Pick<
  ActorActivation,
  "callbacks" | "queue" | "commitOrThrow" | "timers" | "ports" | "shutdown" | "workChanged"
>;

/**
 * Receives of actions and run handlers, in the order of their calls. The workflow's receives come before them (MSG-2).
 */
export class MessageReceivers implements PlainReceivers {
  readonly #activation: ReceiverHost;
  readonly #pending = new Set<PendingReceive>();
  /** Queue names that the run handler has received from. */
  readonly #runHandlerNames = new Set<string>();
  #runHandlerTakesAll = false;

  constructor(activation: ReceiverHost) {
    this.#activation = activation;
  }

  /** True while the run handler waits for a message. */
  get holdsRunHandler(): boolean {
    return [...this.#pending].some(({ receive }) => receive.isRunHandler);
  }

  runHandlerReceives(queue: string): boolean {
    return this.#runHandlerTakesAll || this.#runHandlerNames.has(queue);
  }

  /**
   * @throws {actor/aborted} when a signal fires
   * @throws {actor/restarting} when the activation is lost
   */
  async receive(receive: PlainReceive): Promise<StoredMessage[]> {
    if (receive.isRunHandler) {
      this.#activation.callbacks.runHandlerWaits();
      if (receive.names) for (const name of receive.names) this.#runHandlerNames.add(name);
      else this.#runHandlerTakesAll = true;
    }
    const ready = this.#take(receive);
    if (ready.length > 0 || receive.timeoutMs === 0) return ready;
    return this.#wait(receive);
  }

  /** Hands visible messages to pending receives. */
  offer(): void {
    for (const { receive, resolve } of this.#pending) {
      const messages = this.#take(receive);
      if (messages.length > 0) resolve(messages);
    }
  }

  /** A completable message is only read, and stays visible to others (MSG-5). */
  #take(receive: PlainReceive): StoredMessage[] {
    const { queue } = this.#activation;
    const filter = { names: receive.names, count: receive.count, notAfter: Number.POSITIVE_INFINITY, hold: false };
    if (receive.hold) return queue.peek(filter);
    const messages = queue.take(filter);
    if (messages.length > 0) this.#activation.commitOrThrow();
    return messages;
  }

  /** A signal wins over a message of the same turn, and the end of the activation over the callback's own signals. */
  #wait(receive: PlainReceive): Promise<StoredMessage[]> {
    const { timers, ports, shutdown } = this.#activation;
    const { timeoutMs, signals } = receive;
    const deadline =
      timeoutMs === undefined ? undefined : { at: ports.now() + timeoutMs, outcome: (): StoredMessage[] => [] };
    const aborts = [abortedBy(shutdown.signal), ...signals.map((signal) => ({ signal, outcome: throwAborted }))];
    const waited = wait<StoredMessage[]>(timers, { deadline, aborts }, ({ resolve }) => {
      const pending: PendingReceive = { receive, resolve };
      this.#pending.add(pending);
      if (receive.isRunHandler) this.#activation.workChanged();
      return () => {
        this.#pending.delete(pending);
        if (receive.isRunHandler) this.#activation.workChanged();
      };
    });
    ownField(ports, "userCode")?.waits(waited);
    return waited;
  }
}

export function aborted(): ActorError {
  return new ActorError("actor", "aborted", "The wait was aborted");
}

export function throwAborted(): never {
  throw aborted();
}
