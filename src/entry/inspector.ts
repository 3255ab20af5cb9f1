/** `perdure/inspector`: what operators see of actors. */
export { inspector, type Inspector } from "../worker/index.js";
export type { InspectorOptions, Operator } from "../router/index.js";
