/** `perdure/utils`: small helpers for timers, signals, errors and bytes. */
export { assertUnreachable, stringifyError, toUint8Array } from "../protocol/index.js";
export { interval, joinSignals, promiseWithResolvers, setLongTimeout, sleep } from "../timing/index.js";
export type { Interval, JoinedSignal, LongTimeoutHandle, PromiseWithResolvers, SleepOptions } from "../timing/index.js";
