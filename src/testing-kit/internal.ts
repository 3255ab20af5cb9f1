/** For tests of the kit alone. */
export { openNodeDatabase } from "./world/node-database.js";
export { WorldHost } from "./world/world-host.js";
export { clientsOf } from "./world/clients.js";
export { surroundingsOf } from "./surroundings/surroundings.js";
export { StepDoubles } from "./doubles/step-doubles.js";
