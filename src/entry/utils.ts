/** `perdure/utils`: small helpers for timers and signals. */
export { interval, joinSignals, sleep } from "../client/index.js";
export type { Interval, JoinedSignal, SleepOptions } from "../client/index.js";
