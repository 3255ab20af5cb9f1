import { absolute, fromNow } from "../model/times.js";
import { now } from "../store/clock.js";

/** A time, relative and absolute. */
export function Time({ at }: { readonly at: number }) {
  return (
    <time class="time">
      <span>{fromNow(at, now.value)}</span> <span class="faint">{absolute(at)}</span>
    </time>
  );
}
