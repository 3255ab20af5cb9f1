/** What tests inside workerd use. It is no part of `index.ts`, which is for Node: it imports the platform. */
export { abort, evict } from "./workers/ends.js";
export type { ActorUnderTest } from "./workers/object-of.js";
export { runDue } from "./workers/run-due.js";
