/** `perdure/testing/vitest`: lets vitest load a Worker's files in Node. */
export { workerFiles } from "../../testing-kit/module-loading.js";
export type { WorkerFilesPlugin } from "../../testing-kit/module-loading.js";
