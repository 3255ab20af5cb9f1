export { testWorld, type TestWorld } from "./test-world.js";
export type { TestWorldOptions } from "./world/options.js";
export type { WorldClientOptions } from "./world/clients.js";
