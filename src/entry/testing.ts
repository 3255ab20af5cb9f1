export { CrashError, ManualClock, MemorySocket, MemoryStore, World, WorldActor } from "../testing/index.js";
export type { CommitFault, MemoryStoreOptions, SqliteDatabase, WorldOptions } from "../testing/index.js";
