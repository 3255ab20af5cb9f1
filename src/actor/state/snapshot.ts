import { copyOf } from "./plain-values.js";
import { shownBy } from "./views-by-object.js";

/**
 * A plain copy of a part of an actor's state, or of anything that holds such parts.
 *
 * What `c.state` gives are views: they read and write as plain data, but some libraries and functions of the platform take
 * only objects that are plain all through (`structuredClone`, calls over RPC, those that compare `constructor`). The copy
 * shares nothing with the state: what is changed in it stays there.
 *
 * @example
 * ```ts
 * await c.env.MAILER.deliver(snapshot(c.state.order));
 * ```
 *
 * Throws `value/not_serializable` (400) for a value with something in it that no state could hold, such as a function.
 */
export function snapshot<T>(value: T): T {
  const shown = shownBy(value);
  shown?.through.guard();
  return copyOf(shown ? (shown.place.raw as T) : value);
}
