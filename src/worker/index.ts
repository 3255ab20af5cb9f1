export { createRegistryWorker } from "./registry-worker.js";
export type { RegistryWorker, RegistryWorkerOptions } from "./registry-worker.js";
