export { interval, type Interval } from "./interval.js";
export { joinSignals, type JoinedSignal } from "./join-signals.js";
export { setLongTimeout, type LongTimeoutHandle } from "./long-timeout.js";
export { promiseWithResolvers, type PromiseWithResolvers } from "./promise-with-resolvers.js";
export { sleep, type SleepOptions } from "./sleep.js";
