export { ManualClock } from "./manual-clock.js";
export { MemorySocket } from "./memory-socket.js";
export type { SqliteDatabase } from "./memory-sql.js";
export { CrashError, MemoryStore, type CommitFault, type MemoryStoreOptions } from "./memory-store.js";
export { storeContract, type StoreContractOptions } from "./store.contract.js";
export type { StoreLife, StoreUnderTest } from "./contract-subject.js";
export { deadlinesIn, holdsLease } from "./stored-lease.js";
export { World } from "./world.js";
export { WorldActor, type ActorProcess, type WorldOptions } from "./world-actor.js";
