export { createActorObject, type ActorObjectClass, type ActorObjectOptions } from "./actor-object.js";
export { consoleLog, type LogLevel } from "./console-log.js";
export { KeyValueStore } from "./key-value-store.js";
