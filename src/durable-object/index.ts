export { createActorObject, type ActorObjectClass, type ActorObjectOptions } from "./actor-object.js";
export { testAccess } from "./test-access.js";
export { KeyValueStore } from "./key-value-store.js";
