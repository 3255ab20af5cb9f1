/** `perdure/testing`: actors in memory, with a manual clock and crashes, for tests. */
export { CrashError, ManualClock, MemorySocket, MemoryStore, World, WorldActor } from "../testing/index.js";
export type { CommitFault, MemoryStoreOptions, SqliteDatabase, WorldOptions } from "../testing/index.js";
