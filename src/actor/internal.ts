/** For tests and benches; nothing in `src` imports this. */
export { Callback } from "./activation/callback.js";
export { Timers, type TimedCall } from "./activation/timers.js";
export { abortedBy, wait, waitFor, type Settle, type WaitEnds } from "./activation/wait.js";
export { ActionSignal } from "./callbacks/action-signal.js";
export { runUserCode, type CallbackCommit, type UserCode } from "./callbacks/user-code.js";
export { Deadlines } from "./storage/deadlines.js";
export { DirtySet } from "./storage/dirty-set.js";
export { nextWakeAt } from "./storage/next-wake.js";
export { compileActor, type CompiledActor } from "./definition/compiled-actor.js";
export { nextCronTime } from "./schedule/cron-expression.js";
export {
  decodeLease,
  encodeLease,
  extendedLease,
  foundLease,
  newLease,
  startFailed,
  type Lease,
} from "./storage/lease.js";
export { readSql } from "./sql/sql-text.js";
export { UPGRADES } from "./storage/upgrades.js";
export { carryPart } from "./definition/part-carrier.js";
export type { ActivePart, Part, PartActor } from "./activation/part.js";
