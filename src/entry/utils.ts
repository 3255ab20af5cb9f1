/** `perdure/utils`: small helpers for timers, signals, errors and bytes. */
export { toUint8Array } from "../protocol/index.js";
export { assertUnreachable, interval, joinSignals, promiseWithResolvers, setLongTimeout, sleep, stringifyError } from "../client/index.js";
export type { Interval, JoinedSignal, LongTimeoutHandle, PromiseWithResolvers, SleepOptions } from "../client/index.js";
