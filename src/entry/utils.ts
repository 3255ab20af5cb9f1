export { interval, joinSignals, sleep } from "../client/index.js";
