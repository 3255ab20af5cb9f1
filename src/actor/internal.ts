/** For tests of the actor's own parts; nothing in `src` imports this. */
export { Timers, type TimedCall } from "./activation/timers.js";
export { abortedBy, wait, waitFor, type Settle, type WaitEnds } from "./activation/wait.js";
