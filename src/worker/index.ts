export { inspector, type Inspector } from "./inspector.js";
export { createRegistryWorker } from "./registry-worker.js";
export type { ClientUses, RegistryWorker, RegistryWorkerOptions } from "./registry-worker.js";
