export { ManualClock } from "./manual-clock.js";
export { CrashError, MemoryStore, type CommitFault, type MemoryStoreOptions } from "./memory-store.js";
export { storeContract, type StoreContractOptions, type StoreLife, type StoreUnderTest } from "./store.contract.js";
export { World, WorldActor, type WorldOptions } from "./world.js";
