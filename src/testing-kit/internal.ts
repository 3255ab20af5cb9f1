/** For tests of the kit alone. */
export { openNodeDatabase } from "./world/node-database.js";
export { StepDoubles } from "./doubles/step-doubles.js";
export { loadWs } from "./server/load-ws.js";
export { redactHistory } from "./histories/redact.js";
