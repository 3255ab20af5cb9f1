/** For tests alone: of the kit, and of the Worker in front of a world. */
export { openNodeDatabase } from "./world/node-database.js";
export { StepDoubles } from "./doubles/step-doubles.js";
export { loadWs } from "./server/load-ws.js";
export { redactHistory } from "./histories/redact.js";
export { namespaceOf } from "./world/namespace.js";
export { workerTime } from "./world/worker-time.js";
