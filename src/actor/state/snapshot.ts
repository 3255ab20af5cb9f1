import { copyOf } from "./plain-values.js";
import { shownBy } from "./viewing.js";

/**
 * Returns a plain copy of a part of an actor's state, or of any value that holds such parts.
 *
 * `c.state` returns views (proxies), which read and write like plain data. Some libraries and platform functions accept
 * only plain objects: `structuredClone`, RPC calls, code that compares `constructor`. The copy shares nothing with the
 * state; changes to it are not stored.
 *
 * @example
 * ```ts
 * await c.env.MAILER.deliver(snapshot(c.state.order));
 * ```
 *
 * @throws {value/not_serializable} when the value holds something that no state can hold, such as a function
 */
export function snapshot<T>(value: T): T {
  const shown = shownBy(value);
  shown?.through.guard();
  return copyOf(shown ? (shown.place.raw as T) : value);
}
