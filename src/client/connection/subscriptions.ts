import { Listeners, type Unsubscribe } from "./listeners.js";

type EventListener = (...args: never[]) => void;

/**
 * Who listens to which event of the actor. The server is told of an event's first listener and of its last one's end,
 * however that comes about; `onChange` tells it.
 */
export class Subscriptions {
  readonly #byEvent = new Map<string, Listeners<readonly unknown[]>>();
  readonly #onChange: (event: string, isSubscribed: boolean) => void;

  constructor(onChange: (event: string, isSubscribed: boolean) => void) {
    this.#onChange = onChange;
  }

  /** The events that somebody listens to. */
  get events(): string[] {
    return [...this.#byEvent.keys()];
  }

  add(event: string, listener: EventListener, isOnce: boolean): Unsubscribe {
    let listeners = this.#byEvent.get(event);
    const isFirst = listeners === undefined;
    if (listeners === undefined) this.#byEvent.set(event, (listeners = new Listeners()));
    const remove = listeners.add(listener as (...args: readonly unknown[]) => void, isOnce);
    if (isFirst) this.#onChange(event, true);
    return () => {
      remove();
      this.#endIfUnheard(event);
    };
  }

  tell(event: string, args: readonly unknown[]): void {
    this.#byEvent.get(event)?.tell(...args);
    this.#endIfUnheard(event);
  }

  #endIfUnheard(event: string): void {
    if (this.#byEvent.get(event)?.size !== 0) return;
    this.#byEvent.delete(event);
    this.#onChange(event, false);
  }
}
