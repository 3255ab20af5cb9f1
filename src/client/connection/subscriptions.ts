import { Listeners, type Unsubscribe } from "./listeners.js";

type EventListener = (...args: never[]) => void;

/**
 * The listeners of each event of the actor. `onChange` runs when an event gets its first listener and when it loses its
 * last one, so that the server can be told.
 */
export class Subscriptions {
  readonly #byEvent = new Map<string, Listeners<readonly unknown[]>>();
  readonly #onChange: (event: string, isSubscribed: boolean) => void;

  constructor(onChange: (event: string, isSubscribed: boolean) => void) {
    this.#onChange = onChange;
  }

  /** The events with a listener. */
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
