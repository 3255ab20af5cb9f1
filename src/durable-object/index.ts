export { createActorObject, type ActorObjectClass, type ActorObjectOptions } from "./actor-object.js";
export { KeyValueStore } from "./key-value-store.js";
