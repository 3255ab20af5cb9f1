/** `perdure/testing`: a world of actors in plain Node, with the typed client and a clock of its own, for tests. */
export { testWorld } from "../testing-kit/index.js";
export type { TestWorld, TestWorldOptions, WorldClientOptions } from "../testing-kit/index.js";
