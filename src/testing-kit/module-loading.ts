/** How Node and vitest load a Worker's files. It is no part of `index.ts`: it is there before any actor is loaded. */
export { registerWorkerFiles, type WorkerFileHooks } from "./loading/node-hooks.js";
export { workerFiles, type WorkerFilesPlugin } from "./loading/vite-plugin.js";
